import type { HistoryLine } from '#lib/api/health.ts'
import { dayOf } from '#lib/ui/time.ts'

/** The history of one day in a time zone. */
export interface HistoryDay {
  /** Number of days since 1 January 1970. */
  day: number
  lines: readonly HistoryLine[]
}

/** Groups history entries by day in this time zone. Keeps their order. */
export const historyDays = (lines: readonly HistoryLine[], zone: string): HistoryDay[] =>
  [...Map.groupBy(lines, ({ atMs }) => dayOf(atMs, zone).day)].map(([day, found]) => ({ day, lines: found }))
