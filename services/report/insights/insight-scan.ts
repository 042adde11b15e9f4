import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Insight, InsightScan } from '#proto/insights.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { Store } from '#shared/store/store.ts'
import type { DisposableInsightStore } from '../stores/index.ts'
import { scanHost } from './scan-host.ts'
import { claimRun, finishRun, readLastRun, storeWorstFinding } from './scan-runs.ts'

/** The dependencies of an insight scan. */
export interface InsightScanDeps {
  query: ServiceClient<typeof query>
  clock: Clock
  store: Store
  insightStore: Pick<DisposableInsightStore, 'store' | 'reason'>
  log: Logger
}

/**
 * The result of a scan request. `ran` is false if the last scan is too recent; the insights are then those of that
 * scan.
 */
export interface InsightScanResult {
  ran: boolean
  run: InsightScan | null
  insights: Insight[]
}

/** Minimum time between two scans of a host in milliseconds, unless a scan is forced. */
const throttleMs = 5 * 60_000
const maxNotes = 200

/** Scans a host and stores insights, unless the last scan is too recent. Only one process at a time scans a host. */
export const runInsightScan = async (
  deps: InsightScanDeps,
  { hostKey, force }: { hostKey: string; force: boolean },
  call: CallContext,
): Promise<InsightScanResult> => {
  const { store, clock, insightStore } = deps
  const token = randomUUID()
  const [startedAtMs, startedMs] = [clock.now(), clock.elapsedMs()]
  if (!(await claimRun(store, { hostKey, clock, token, throttleMs: force ? 0 : throttleMs }))) {
    const run = await readLastRun(store, hostKey)
    const sinceMs = run?.startedAtMs ?? startedAtMs - throttleMs
    return { ran: false, run, insights: await insightStore.store.list({ hostKey, sinceMs, limit: 500 }, call) }
  }
  try {
    const reportCall = { ...call, priority: 'report' as const }
    const { insights: found, notes } = await scanHost({
      query: deps.query,
      store,
      call: reportCall,
      hostKey,
      nowMs: startedAtMs,
    })
    const { insights, storeError } = await storeInsights(deps, hostKey, found, call)
    const tookMs = Math.round(clock.elapsedMs() - startedMs)
    const run = { startedAtMs, tookMs, found: insights.length, storeError, notes: notes.slice(0, maxNotes) }
    await storeWorstFinding(store, hostKey, insights)
    await finishRun(store, hostKey, token, run)
    deps.log.info({ hostKey, found: insights.length, stored: storeError === null, tookMs }, 'insight scan finished')
    return { ran: true, run, insights }
  } catch (error) {
    await finishRun(store, hostKey, token, null)
    throw error
  }
}

/** Stores insights and keeps their dismissals. If the store fails, returns the reason as `storeError`. */
const storeInsights = async (
  { insightStore: { store }, clock, log }: InsightScanDeps,
  hostKey: string,
  found: readonly Insight[],
  call: CallContext,
): Promise<{ insights: Insight[]; storeError: string | null }> => {
  if (found.length === 0) return { insights: [], storeError: null }
  try {
    const ids = found.map(({ id }) => id)
    // Ids are derived from the day, so an insight with the same id was stored on the same day.
    const sinceMs = Math.min(...found.map(({ day }) => Date.parse(day)))
    const before = await store.list({ hostKey, sinceMs, limit: ids.length, ids }, call)
    const dismissals = new Map(before.map(({ id, dismissed }) => [id, dismissed]))
    const insights = found.map((insight) => ({ ...insight, dismissed: dismissals.get(insight.id) ?? null }))
    await store.put(hostKey, insights, clock.now(), call)
    return { insights, storeError: null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    log.warn({ hostKey, code: error.code, backend: store.backend }, 'saving insights failed')
    return { insights: [...found], storeError: shortenText(error.message, 500) }
  }
}
