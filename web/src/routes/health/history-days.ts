import type { HistoryLine } from '#lib/api/health.ts'
import { dayOf } from '#lib/ui/time.ts'

/** The lines of one day by the clocks of a zone. */
export interface HistoryDay {
  /** Days since the first of 1970. */
  day: number
  lines: readonly HistoryLine[]
}

/** Lines by the day on which they happened, in the order in which they come. */
export const historyDays = (lines: readonly HistoryLine[], zone: string): HistoryDay[] =>
  [...Map.groupBy(lines, ({ atMs }) => dayOf(atMs, zone).day)].map(([day, found]) => ({ day, lines: found }))
