import type { ActiveCondition, ConditionHistoryEntry } from '#lib/api/health.ts'

const minuteMs = 60_000
/** How far before its first breach a condition may start: the longest usual window of a rule. */
const leadMinutes = 10

/** A page with the queries of an interval in epoch milliseconds. */
export interface QueryInterval {
  label: string
  path: string
  fromMs: number
  toMs: number
}

/** The page for conditions that no queries cause. */
const otherQueries = { label: 'Queries at that time', path: '/tables/slow-queries?p.min_duration_s=0' }

const toInterval = (causes: ActiveCondition['causes'], startMs: number, toMs: number): QueryInterval => {
  const { label, path } = causes ? { label: 'Affected queries', path: causes.path } : otherQueries
  return { label, path, fromMs: startMs - (causes?.minutes ?? leadMinutes) * minuteMs, toMs }
}

/** Returns the page with the queries of an episode: from before its first breach to its recovery, or to now. */
export const getAffectedQueries = (
  { causes, sinceMs, evaluatedAtMs, phase }: Pick<ActiveCondition, 'causes' | 'sinceMs' | 'evaluatedAtMs' | 'phase'>,
  nowMs: number,
): QueryInterval => toInterval(causes, sinceMs, phase === 'cleared' ? evaluatedAtMs : nowMs)

/** Returns the page with the queries before an event of a condition. */
export const getQueriesBefore = ({ causes, atMs }: Pick<ConditionHistoryEntry, 'causes' | 'atMs'>): QueryInterval =>
  toInterval(causes, atMs, atMs + minuteMs)
