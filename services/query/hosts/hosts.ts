import { stat } from 'node:fs/promises'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings, parseSettings } from '#shared/config/setting.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { settings } from '../config.ts'
import { parseHostVariables, readHostFile } from './parse-host-list.ts'
import type { HostList, MonitoredHost } from './host-list.ts'
import {
  type HostAddress,
  type LastValidHostStore,
  openTruncationGuard,
  removeTruncatedHosts,
} from './truncation-guard.ts'

const recheckMs = 2_000

/** The current list of monitored hosts. */
export interface HostRegistry extends AsyncDisposable {
  list(): readonly MonitoredHost[]
  /** Returns the host with this key. Throws `not-found` with the reason `unknown-host` if the list has none. */
  get(key: string): MonitoredHost
}

interface HostsDeps {
  env: Environment
  log: Telemetry['log']
  recheckEveryMs?: number
  lastGood?: LastValidHostStore | undefined
  /** Returns whether a ClickHouse or Keeper server responds at an address that looks truncated. */
  answers?(address: HostAddress): Promise<boolean>
}

/** Loads the host list and reloads it on change; an invalid change is ignored. Throws `InvalidSettings` at start. */
export const openHosts = async ({
  env,
  log,
  recheckEveryMs = recheckMs,
  lastGood,
  answers = async () => false,
}: HostsDeps): Promise<HostRegistry> => {
  const first = load(env)
  if (first.problems.length > 0) throw new InvalidSettings(first.problems)
  const { findUnanswered, accept, warn } = await openTruncationGuard({ lastGood, answers, log })

  const truncatedAtStart = await findUnanswered(first.hosts)
  let isWaiting = truncatedAtStart.length > 0
  warn(truncatedAtStart, 'the host is skipped')
  if (!isWaiting) await accept(first.hosts)
  let current = byKey(removeTruncatedHosts(first.hosts, truncatedAtStart))
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
      if (isChanged) log.warn({ problems: fresh.problems }, 'host list is invalid; keeping the last valid one')
      return
    }
    const truncated = await findUnanswered(fresh.hosts)
    isWaiting = truncated.length > 0
    if (isWaiting) {
      if (isChanged) warn(truncated, 'the last valid list stays in use')
      return
    }
    current = byKey(fresh.hosts)
    await accept(fresh.hosts)
    log.info({ hosts: current.size }, 'host list reloaded')
  }
  const rechecking = repeat(recheck, recheckEveryMs, log)
  return {
    list: () => [...current.values()],
    get: (key) => requireHost(current, key),
    [Symbol.asyncDispose]: () => rechecking[Symbol.asyncDispose](),
  }
}

/** Runs `recheck` periodically. Disposal waits for the current run. */
export const repeat = (recheck: () => Promise<void>, everyMs: number, log: Telemetry['log']): AsyncDisposable => {
  let checking: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    checking = checking.then(recheck).catch((error: unknown) => log.error({ err: error }, 'checking host list failed'))
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

const requireHost = (hosts: Map<string, MonitoredHost>, key: string): MonitoredHost => {
  const host = hosts.get(key)
  if (host) return host
  const sentence = 'unknown host; the host list may have changed'
  throw new ServiceError('not-found', sentence, { details: { reason: 'unknown-host', hostKey: key } })
}

const load = (env: Environment): HostList & { files: readonly string[] } => {
  const values = parseSettings(settings, env)
  if (values.SVC_HOSTS_FILE !== undefined) return readHostFile(values.SVC_HOSTS_FILE)
  if (values.COLUMNDB_HOST === undefined) return { hosts: [], problems: [], files: [] }
  return { ...parseHostVariables(values), files: [] }
}

/** Returns a text that changes whenever a variable or a file of the host list changes. */
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
