import { stat } from 'node:fs/promises'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings, read } from '#shared/config/setting.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { settings } from '../config.ts'
import { hostsFromEnvironment, hostsFromFile } from './written-list.ts'
import type { HostList, MonitoredHost } from './host-list.ts'
import { type HostAddress, type LastGoodHosts, openTruncationGuard, withoutTruncated } from './truncated.ts'

/** How often variables and files are looked at for a change. */
const recheckMs = 2_000

/** The monitored hosts, as they stand now. */
export interface Hosts extends AsyncDisposable {
  list(): readonly MonitoredHost[]
  /** The host of a key; `not-found` with the reason `unknown-host` when the list lacks it. */
  get(key: string): MonitoredHost
}

interface OpenHosts {
  env: Environment
  log: Telemetry['log']
  recheckEveryMs?: number
  lastGood?: LastGoodHosts | undefined
  /** Whether the right server answers at an address that looks cut off. */
  answers?(address: HostAddress): Promise<boolean>
}

/** Reads the host list and keeps it current; a list that became broken is not taken over. Throws `InvalidSettings` at start. */
export const openHosts = async ({
  env,
  log,
  recheckEveryMs = recheckMs,
  lastGood,
  answers = async () => false,
}: OpenHosts): Promise<Hosts> => {
  const first = load(env)
  if (first.problems.length > 0) throw new InvalidSettings(first.problems)
  const { unanswered, accept, refuse } = await openTruncationGuard({ lastGood, answers, log })

  const cutOff = await unanswered(first.hosts)
  let isWaiting = cutOff.length > 0
  refuse(cutOff, 'it is left out')
  if (!isWaiting) await accept(first.hosts)
  let current = byKey(withoutTruncated(first.hosts, cutOff))
  let files = first.files
  let seen = await fingerprint(env, files)

  const recheck = async (): Promise<void> => {
    const now = await fingerprint(env, files)
    const isChanged = now !== seen
    if (!isChanged && !isWaiting) return
    seen = now
    const fresh = load(env)
    files = fresh.files
    if (fresh.problems.length > 0) {
      if (isChanged) log.warn({ problems: fresh.problems }, 'host list is broken, the last good one stays')
      return
    }
    const truncated = await unanswered(fresh.hosts)
    isWaiting = truncated.length > 0
    if (isWaiting) {
      if (isChanged) refuse(truncated, 'the last good list stays')
      return
    }
    current = byKey(fresh.hosts)
    await accept(fresh.hosts)
    log.info({ hosts: current.size }, 'host list read again')
  }
  const rechecking = repeat(recheck, recheckEveryMs, log)
  return {
    list: () => [...current.values()],
    get: (key) => known(current, key),
    [Symbol.asyncDispose]: () => rechecking[Symbol.asyncDispose](),
  }
}

/** Runs `recheck` again and again until disposed, which waits for the run under way. */
const repeat = (recheck: () => Promise<void>, everyMs: number, log: Telemetry['log']): AsyncDisposable => {
  let checking: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    checking = checking.then(recheck).catch((error: unknown) => log.error({ err: error }, 'host list not checked'))
  }, everyMs)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await checking
    },
  }
}

const byKey = (hosts: readonly MonitoredHost[]): Map<string, MonitoredHost> =>
  new Map(hosts.map((host) => [host.key, host]))

const known = (hosts: Map<string, MonitoredHost>, key: string): MonitoredHost => {
  const host = hosts.get(key)
  if (host) return host
  const sentence = 'no such host; the host list may have changed'
  throw new ServiceError('not-found', sentence, { details: { reason: 'unknown-host', hostKey: key } })
}

const load = (env: Environment): HostList & { files: readonly string[] } => {
  const values = read(settings, env)
  if (values.SVC_HOSTS_FILE !== undefined) return hostsFromFile(values.SVC_HOSTS_FILE)
  if (values.COLUMNDB_HOST === undefined) return { hosts: [], problems: [], files: [] }
  return { ...hostsFromEnvironment(values), files: [] }
}

/** Changes whenever what the list is made of changes. */
const fingerprint = async (env: Environment, files: readonly string[]): Promise<string> => {
  const { COLUMNDB_HOST, COLUMNDB_USER, COLUMNDB_PASSWORD, COLUMNDB_NAME, SVC_HOSTS_FILE } = env
  const times = await Promise.all(
    files.map(async (file) => {
      const found = await stat(file).catch(() => undefined)
      return found ? `${found.mtimeMs}/${found.size}/${found.ino}` : 'absent'
    }),
  )
  return JSON.stringify([COLUMNDB_HOST, COLUMNDB_USER, COLUMNDB_PASSWORD, COLUMNDB_NAME, SVC_HOSTS_FILE, times])
}
