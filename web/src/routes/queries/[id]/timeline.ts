import type { LoggedQueryDetail } from '#lib/api/analysis.ts'

/** A bar of the timeline. `left` and `width` are shares of the total width, from 0 to 1. */
export interface TimelineLane {
  queryId: string
  label: string
  host: string
  durationMs: number
  failed: boolean
  left: number
  width: number
  /** Whether this is the query of the page; false for a subquery. */
  isSelf: boolean
}

export interface Timeline {
  fromMs: number
  toMs: number
  lanes: readonly TimelineLane[]
}

/** Minimum width of a bar, so that short queries are visible. */
const minWidth = 0.004

/** Returns the timeline of a query and its subqueries, earliest first. */
export const createTimeline = ({ summary, children }: LoggedQueryDetail, host: string): Timeline => {
  const spans = [
    {
      queryId: summary.queryId,
      label: summary.kind || 'Query',
      host,
      failed: summary.status === 'failed',
      fromMs: summary.startedMs,
      toMs: summary.startedMs + summary.durationMs,
      isSelf: true,
    },
    ...children.rows.map(({ queryId, kind, host: ranOn, failed, endedMs, durationMs }) => ({
      queryId,
      label: kind || 'Query',
      host: ranOn,
      failed,
      fromMs: endedMs - durationMs,
      toMs: endedMs,
      isSelf: false,
    })),
  ]
  const fromMs = Math.min(...spans.map((span) => span.fromMs))
  const toMs = Math.max(...spans.map((span) => span.toMs), fromMs + 1)
  const whole = toMs - fromMs
  const lanes = spans
    .toSorted((one, other) => Number(other.isSelf) - Number(one.isSelf) || one.fromMs - other.fromMs)
    .map(({ fromMs: began, toMs: ended, ...span }) => {
      const width = Math.max(minWidth, (ended - began) / whole)
      return { ...span, durationMs: ended - began, width, left: Math.min((began - fromMs) / whole, 1 - width) }
    })
  return { fromMs, toMs, lanes }
}
