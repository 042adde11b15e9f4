import { createQuery, type CreateQueryResult } from '@tanstack/svelte-query'
import type { ChartInfo } from '#proto/catalogue.ts'
import { commonFailure, type ChartAnswers } from '#lib/api/chart-answers.ts'
import { failureMessage } from '#lib/api/failure.ts'
import { chartsQuery, keepOfSameSubject, mostCharts } from '#lib/api/queries.ts'
import { spanSeconds, toWindow, type Range } from '#lib/state/range.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'

/** The chart whose rows mark what changed on the host in all others. */
export const changesChart = 'host-changes'

/** The charts of a page, asked for at once. */
export interface ChartBatch {
  readonly now: CreateQueryResult<ChartAnswers>
  /** The same length of time before; asked for only where the reader compares. */
  readonly before: CreateQueryResult<ChartAnswers>
  /** How much earlier that was; 0 where nothing is compared. */
  readonly beforeMs: number
  /** Why none of them has a new answer, so that it can be said once. */
  readonly failure: string | null
}

interface Asked {
  charts: readonly ChartInfo[]
  /** Values for the placeholders of the charts. */
  params?: Record<string, string>
}

/** Asks for the charts that a page shows now, over the window that the reader chose. */
export const createChartBatch = (session: Session, asked: () => Asked): ChartBatch => {
  const query = (range: Range, further: readonly string[]) => {
    const { charts, params = {} } = asked()
    const names =
      charts.length > 0 ? [...new Set([...charts.slice(0, mostCharts - 1).map(({ name }) => name), ...further])] : []
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
      placeholderData: keepOfSameSubject(['charts', view.host, names.join()]),
    }
  }
  const hasChanges = $derived(session.catalogue?.charts.some(({ name }) => name === changesChart) ?? false)
  const now = createQuery(() => query(view.range, hasChanges ? [changesChart] : []))
  const before = createQuery(() => {
    const options = query(previous(view.range, now.dataUpdatedAt), [])
    return { ...options, refetchInterval: false, enabled: view.comparing && now.isSuccess && asked().charts.length > 0 }
  })
  return {
    now,
    before,
    get beforeMs() {
      return view.comparing ? spanSeconds(view.range) * 1000 : 0
    },
    get failure() {
      return now.error ? failureMessage(now.error) : commonFailure(now.data)
    },
  }
}

/** The range before this one, as long; of one up to now that is up to when it was answered. */
const previous = (range: Range, answeredAtMs: number): Range => {
  const length = spanSeconds(range)
  const from = range.kind === 'between' ? range.from : Math.floor(answeredAtMs / 1000) - length
  return { kind: 'between', from: from - length, to: from }
}
