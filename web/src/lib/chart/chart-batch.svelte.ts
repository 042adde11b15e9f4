import { createQuery, type CreateQueryResult } from '@tanstack/svelte-query'
import type { ChartInfo } from '#proto/catalogue.ts'
import { findCommonFailure, type ChartStates } from '#lib/api/chart-states.ts'
import { getFailureMessage } from '#lib/api/failure.ts'
import { chartsQuery, keepPreviousDataForKey, maxCharts } from '#lib/api/queries.ts'
import { getRangeSeconds, toWindow, type TimeRange } from '#lib/state/range.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'

/** Name of the chart whose rows are changes of the host. They appear as annotations in all other charts. */
export const hostChangesChartName = 'host-changes'

/** The charts of a page, fetched in one request. */
export interface ChartBatch {
  readonly now: CreateQueryResult<ChartStates>
  /** The preceding window of the same length, fetched only during a comparison. */
  readonly before: CreateQueryResult<ChartStates>
  /** Offset of the preceding window in milliseconds; 0 without comparison. */
  readonly beforeMs: number
  /** The error message that all charts have in common, so that the page shows it once; null if there is none. */
  readonly failure: string | null
}

interface BatchRequest {
  charts: readonly ChartInfo[]
  /** Values of the chart parameters. */
  params?: Record<string, string>
}

/** Fetches the charts of a page over the selected time range. */
export const createChartBatch = (session: Session, request: () => BatchRequest): ChartBatch => {
  const query = (range: TimeRange, further: readonly string[]) => {
    const { charts, params = {} } = request()
    const names =
      charts.length > 0 ? [...new Set([...charts.slice(0, maxCharts - 1).map(({ name }) => name), ...further])] : []
    return {
      ...chartsQuery({
        host: view.host,
        names,
        window: toWindow(range),
        interval: view.interval,
        timezone: session.zone,
        params,
      }),
      refetchInterval: view.rangeRefreshMs,
      placeholderData: keepPreviousDataForKey(['charts', view.host, names.join()]),
    }
  }
  const hasChanges = $derived(session.catalogue?.charts.some(({ name }) => name === hostChangesChartName) ?? false)
  const now = createQuery(() => query(view.range, hasChanges ? [hostChangesChartName] : []))
  const before = createQuery(() => {
    const options = query(getPrecedingRange(view.range, now.dataUpdatedAt), [])
    return {
      ...options,
      refetchInterval: false,
      enabled: view.comparing && now.isSuccess && request().charts.length > 0,
    }
  })
  return {
    now,
    before,
    get beforeMs() {
      return view.comparing ? getRangeSeconds(view.range) * 1000 : 0
    },
    get failure() {
      return now.error ? getFailureMessage(now.error) : findCommonFailure(now.data)
    },
  }
}

/** Returns the preceding range of the same length. A relative range ends when its data was received. */
const getPrecedingRange = (range: TimeRange, receivedAtMs: number): TimeRange => {
  const length = getRangeSeconds(range)
  const from = range.kind === 'between' ? range.from : Math.floor(receivedAtMs / 1000) - length
  return { kind: 'between', from: from - length, to: from }
}
