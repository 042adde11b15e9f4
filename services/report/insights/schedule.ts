import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { computeAgeMs, recordInstant } from '#shared/time/clock.ts'
import { forEachHost, createServiceCall, type BackgroundTasks } from '../background-tasks.ts'
import { insightStoreSettings } from '../stores/settings.ts'
import { recordForecasts } from './forecast-records.ts'
import { runInsightScan, type InsightScanDeps } from './insight-scan.ts'

const tickMs = 60_000

/** Scans due hosts once a minute. Repeated failures are logged once. */
export const openScanSchedule = (deps: ScheduleDeps, work: BackgroundTasks, everyMs = tickMs): Disposable => {
  let isRunning = false
  let isFailing = false
  const tick = async (signal: AbortSignal): Promise<void> => {
    if (isRunning) return
    isRunning = true
    try {
      await scanDueHosts(deps, signal)
      if (isFailing) deps.log.info('insight scan recovered')
      isFailing = false
    } catch (error) {
      if (!isFailing && !signal.aborted) deps.log.error({ err: error }, 'insight scan failed')
      isFailing = true
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(() => void work.run(tick), everyMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** The time of the last scheduled scan of each host, by host key. Includes failed scans. */
const ScanAttempts = z.object({ hosts: z.record(z.string(), z.number()) })
const attemptsKey = 'insights/tried'
const leaseName = 'insights:round'
/**
 * Duration of the lease in milliseconds, longer than all scans take. Even if two processes overlap, each host is
 * scanned only once.
 */
const leaseMs = 15 * 60_000
const minuteMs = 60_000

/** The dependencies of scheduled scans. */
interface ScheduleDeps extends InsightScanDeps {
  env: Environment
}

/** Scans every due host and returns their number. Only the process that holds the lease scans. */
export const scanDueHosts = async (deps: ScheduleDeps, signal: AbortSignal): Promise<number> => {
  const { store, clock, env } = deps
  const everyMs = parseSettings(insightStoreSettings, env).SVC_INSIGHTS_INTERVAL_MINUTES * minuteMs
  if (everyMs === 0) return 0
  await using lease = await store.lease(leaseName, leaseMs)
  if (!lease) return 0
  const due = await findDueHosts(deps, everyMs, createServiceCall(deps, signal))
  await forEachHost(due, async (hostKey) => {
    signal.throwIfAborted()
    await store.update(attemptsKey, ScanAttempts, (attempts) => ({
      value: { hosts: { ...attempts?.hosts, [hostKey]: recordInstant(clock) } },
    }))
    await scanHostSafely(deps, hostKey, createServiceCall(deps, signal))
  })
  return due.length
}

/** Returns hosts that are not down and were not scanned within the interval. Deletes the entries of removed hosts. */
const findDueHosts = async (
  { query, store, clock }: ScheduleDeps,
  everyMs: number,
  call: CallContext,
): Promise<string[]> => {
  const [hosts, states] = await Promise.all([query.hosts({}, call), query.hostStates({}, call)])
  const down = new Set(states.flatMap(({ key, status }) => (status === 'down' ? key : [])))
  const keys = hosts.map(({ key }) => key)
  const attempts = await store.update(attemptsKey, ScanAttempts, (before) => ({
    value: { hosts: Object.fromEntries(Object.entries(before?.hosts ?? {}).filter(([key]) => keys.includes(key))) },
  }))
  return keys.filter((key) => {
    const atMs = attempts?.hosts[key]
    if (down.has(key)) return false
    if (atMs === undefined) return true
    const sinceMs = computeAgeMs(clock, atMs)
    // A time in the future means that the clock was set back, so the host is due.
    return sinceMs < 0 || sinceMs >= everyMs
  })
}

/** Scans one host. Logs a failure instead of throwing, so that the other hosts are still scanned. */
const scanHostSafely = async (deps: ScheduleDeps, hostKey: string, call: CallContext): Promise<void> => {
  try {
    await runInsightScan(deps, { hostKey, force: false }, call)
    await recordForecasts(deps, hostKey, call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    deps.log.warn({ hostKey, code: error.code }, 'scanning a host for insights failed')
  }
}
