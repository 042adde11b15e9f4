import { createQuery, type CreateQueryResult } from '@tanstack/svelte-query'
import type { ChartInfo } from '#proto/catalogue.ts'
import { findCommonFailure, type ChartStates } from '#lib/api/chart-states.ts'
import { getFailureMessage } from '#lib/api/failure.ts'
import { chartsQuery, keepPreviousDataForKey, maxCharts } from '#lib/api/queries.ts'
import { computeComparisonOffsetMs, type Comparison } from '#lib/state/comparison.ts'
import { selectInterval, toWindow, type TimeRange } from '#lib/state/range.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'

/** Name of the chart whose rows are changes of the host. They appear as annotations in all other charts. */
export const hostChangesChartName = 'host-changes'

/** The charts of a page, fetched in one request. */
export interface ChartBatch {
  /** Its data belongs to another range or other parameters while `isPlaceholderData` is true. */
  readonly now: CreateQueryResult<ChartStates>
  /** The compared range of the same length, fetched only during a comparison. */
  readonly before: CreateQueryResult<ChartStates>
  /** How far the compared range is before the shown one, in milliseconds; 0 without comparison. */
  readonly beforeMs: number
  /** The error message that all charts have in common, so that the page shows it once; null if there is none. */
  readonly failure: string | null
}

interface BatchRequest {
  charts: readonly ChartInfo[]
  /** Values of the chart parameters. */
  params?: Record<string, string>
  /** Host, range and comparison; by default those of the page. */
  host?: number | undefined
  range?: TimeRange | undefined
  comparison?: Comparison | null | undefined
}

/** Fetches charts over a time range, and over the range that they are compared with. */
export const createChartBatch = (session: Session, request: () => BatchRequest): ChartBatch => {
  const hasChanges = $derived(session.catalogue?.charts.some(({ name }) => name === hostChangesChartName) ?? false)
  const range = $derived(request().range ?? view.range)
  const comparison = $derived.by(() => {
    const own = request().comparison
    return own === undefined ? view.comparison : own
  })
  const query = (window: TimeRange, further: readonly string[], purpose: string) => {
    const { charts, params: own = {}, host = view.host } = request()
    const params = view.showsOwn ? { own: '1', ...own } : own
    const names =
      charts.length > 0 ? [...new Set([...charts.slice(0, maxCharts - 1).map(({ name }) => name), ...further])] : []
    const subject = { host, names, purpose, interval: selectInterval(range), timezone: session.zone, params }
    return {
      ...chartsQuery({ ...subject, window: toWindow(window) }),
      placeholderData: keepPreviousDataForKey(['charts', host, names.join(), purpose]),
    }
  }
  const now = createQuery(() => ({
    ...query(range, hasChanges ? [hostChangesChartName] : [], ''),
    refetchInterval: range.kind === 'last' && view.refreshMs,
  }))
  /** The range of the shown data, and its distance to the compared range. */
  const compared = $derived.by(() => {
    const window = comparison === null || now.isPlaceholderData ? null : findWindow(now.data)
    if (comparison === null || !window) return null
    const bucketMs = (window.bucketSeconds ?? 0) * 1_000
    const offsetMs = computeComparisonOffsetMs(comparison, { ...window, bucketMs }, session.zone)
    const [from, to] = [window.fromMs - offsetMs, window.toMs - offsetMs].map((each) => Math.floor(each / 1_000))
    return { offsetMs, range: { kind: 'between', from: from ?? 0, to: to ?? 0 } as const }
  })
  const before = createQuery(() => ({
    // A refresh moves the compared range a little. Until its data arrives, the previous data stays at the same distance.
    ...query(compared?.range ?? range, [], JSON.stringify([range, comparison])),
    enabled: compared !== null && request().charts.length > 0,
  }))
  return {
    now,
    before,
    get beforeMs() {
      return compared?.offsetMs ?? 0
    },
    get failure() {
      return now.error ? getFailureMessage(now.error) : findCommonFailure(now.data)
    },
  }
}

/** Returns the range of the charts, with the length of their longest buckets, of which the others are parts. */
const findWindow = (states: ChartStates | undefined) =>
  Object.values(states ?? {})
    .flatMap(({ data }) => data?.window ?? [])
    .toSorted((a, b) => (b.bucketSeconds ?? 0) - (a.bucketSeconds ?? 0))[0]
