import type { ConditionHistoryEntry } from '#lib/api/health.ts'
import { toLocalDay } from '#lib/ui/time.ts'

/** The history of one day in a time zone. */
export interface HistoryDay {
  /** Number of days since 1 January 1970. */
  day: number
  lines: readonly ConditionHistoryEntry[]
}

/** Groups history entries by day in this time zone. Keeps their order. */
export const groupHistoryByDay = (lines: readonly ConditionHistoryEntry[], zone: string): HistoryDay[] =>
  [...Map.groupBy(lines, ({ atMs }) => toLocalDay(atMs, zone).day)].map(([day, found]) => ({ day, lines: found }))
