import type { Logger } from 'pino'
import { z } from 'zod'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { urlSetting, parseSettings } from '#shared/config/setting.ts'
import type { RequestSender } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { HostList } from '../hosts/host-list.ts'

/** Settings of the usage report, which is sent only if an endpoint is set. */
export const usageReportSettings = {
  SVC_TELEMETRY_ENDPOINT: urlSetting(
    'URL that receives a daily usage report: version, Node.js major version, number of hosts rounded up to a power of ten, and whether several processes share a bus. It contains no names. Unset: no report is sent.',
    { protocols: ['https', 'http'] },
  ),
} as const

/** The usage report, with all its fields. */
interface UsageReport {
  product: 'watchhouse'
  version: string
  node: number
  /** Number of hosts, rounded up to a power of ten. */
  hostsUpTo: number
  isCluster: boolean
}

interface UsageReportDeps {
  env: Environment
  store: Store
  clock: Clock
  log: Logger
  hosts: Pick<HostList, 'all'>
  /** Sends a request to an address that the operator configured. */
  send: RequestSender
  version: string
}

const dayMs = 86_400_000
const checkEveryMs = 60 * 60_000
const timeoutMs = 5_000

/** Checks every hour whether a report is due. The first check is one hour after start, so short trials send none. */
export const openUsageReport = (deps: UsageReportDeps): Disposable => {
  const timer = setInterval(() => void sendUsageReportIfDue(deps), checkEveryMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Sends at most one report per day for all processes together. A failed report is not retried on that day. */
export const sendUsageReportIfDue = async (deps: UsageReportDeps): Promise<void> => {
  const { env, store, clock, log, hosts, send, version } = deps
  try {
    const endpoint = parseSettings(usageReportSettings, env).SVC_TELEMETRY_ENDPOINT
    if (endpoint === undefined || !(await acquireReport(store, clock.now()))) return
    const report: UsageReport = {
      product: 'watchhouse',
      version,
      node: Number(process.versions.node.split('.')[0]),
      hostsUpTo: roundUpToPowerOfTen((await hosts.all()).length),
      isCluster: Boolean(env.NATS_URL),
    }
    const headers = { 'content-type': 'application/json' }
    await send(endpoint, { method: 'POST', headers, body: JSON.stringify(report), timeoutMs })
  } catch (error) {
    log.debug({ err: error }, 'usage report failed')
  }
}

const roundUpToPowerOfTen = (count: number): number => 10 ** Math.ceil(Math.log10(Math.max(1, count)))

/** Returns true if the last report is at least a day old, and records a new one, so that only one process sends it. */
const acquireReport = async (store: Store, nowMs: number): Promise<boolean> => {
  let isDue = false
  await store.update('gateway:usage-report', z.object({ atMs: z.int() }), (last) => {
    isDue = last === undefined || nowMs - last.atMs >= dayMs
    return { value: isDue || last === undefined ? { atMs: nowMs } : last }
  })
  return isDue
}
