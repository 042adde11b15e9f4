import type { Logger } from 'pino'
import { z } from 'zod'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { url, read } from '#shared/config/setting.ts'
import type { Send } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { HostList } from '../hosts/host-list.ts'

/** Who hears that this installation is in use; nobody unless the operator says so. */
export const usageReportSettings = {
  SVC_TELEMETRY_ENDPOINT: url(
    'Where once a day a report on the installation is posted: the version, the major version of Node, how many hosts there are to the next power of ten, and whether several processes share a bus. Nothing that names anybody or anything; nothing at all while unset.',
    { protocols: ['https', 'http'] },
  ),
} as const

/** All that is ever told. */
interface UsageReport {
  product: 'watchhouse'
  version: string
  node: number
  /** 1, 10, 100 …: at most so many hosts. */
  hostsUpTo: number
  isCluster: boolean
}

interface Place {
  env: Environment
  store: Store
  clock: Clock
  log: Logger
  hosts: Pick<HostList, 'all'>
  /** To an address of the operator's. */
  send: Send
  version: string
}

const dayMs = 86_400_000
const lookEveryMs = 60 * 60_000
const timeoutMs = 5_000

/** Looks each hour whether a report is due: the first an hour after the start, so that a trial tells nothing. */
export const openUsageReport = (place: Place): Disposable => {
  const timer = setInterval(() => void reportIfDue(place), lookEveryMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Reports once a day over all processes; one that does not arrive is not sent again that day. */
export const reportIfDue = async (place: Place): Promise<void> => {
  const { env, store, clock, log, hosts, send, version } = place
  try {
    const endpoint = read(usageReportSettings, env).SVC_TELEMETRY_ENDPOINT
    if (endpoint === undefined || !(await takeTurn(store, clock.now()))) return
    const report: UsageReport = {
      product: 'watchhouse',
      version,
      node: Number(process.versions.node.split('.')[0]),
      hostsUpTo: upTo((await hosts.all()).length),
      isCluster: Boolean(env.NATS_URL),
    }
    const headers = { 'content-type': 'application/json' }
    await send(endpoint, { method: 'POST', headers, body: JSON.stringify(report), timeoutMs })
  } catch (error) {
    log.debug({ err: error }, 'usage report did not arrive')
  }
}

const upTo = (count: number): number => 10 ** Math.ceil(Math.log10(Math.max(1, count)))

/** Whether the last report was a day ago; then this process is the one to send the next. */
const takeTurn = async (store: Store, nowMs: number): Promise<boolean> => {
  let isMine = false
  await store.update('gateway:usage-report', z.object({ atMs: z.int() }), (last) => {
    isMine = last === undefined || nowMs - last.atMs >= dayMs
    return { value: isMine || last === undefined ? { atMs: nowMs } : last }
  })
  return isMine
}
