import type { TableInfo } from '#proto/catalogue.ts'

/** A build may set how often running queries are asked for, whatever their definition says. */
const builtRunningMs = Number(import.meta.env?.CLIENT_RUNNING_QUERIES_REFRESH_MS ?? Number.NaN)
const leastMs = 1_000

/** What the reader has chosen: an interval of their own, or none and then the default of all pages. */
export interface ChosenRefresh {
  ms: number | false
  isOwn: boolean
}

/** How often a table page asks again: as the reader chose, else as the page wishes, else as all pages do. */
export const pageRefreshMs = (
  table: Pick<TableInfo, 'name' | 'refreshSeconds'>,
  chosen: ChosenRefresh,
  runningMs = builtRunningMs,
): number | false => {
  if (chosen.ms === false || chosen.isOwn) return chosen.ms
  if (table.name === 'running-queries' && runningMs >= leastMs) return runningMs
  return table.refreshSeconds === undefined ? chosen.ms : table.refreshSeconds * 1000
}
