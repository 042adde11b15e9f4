import type { TableInfo } from '#proto/catalogue.ts'

/** Refresh interval of running queries that the build sets, in milliseconds. It overrides the table definition. */
const builtRunningMs = Number(import.meta.env?.CLIENT_RUNNING_QUERIES_REFRESH_MS ?? Number.NaN)
const minMs = 1_000

/** The interval that the user selected, or the default. */
export interface ChosenRefresh {
  ms: number | false
  isOwn: boolean
}

/** Returns the refresh interval of a table page: that of the user, of the table, or the default. */
export const pageRefreshMs = (
  table: Pick<TableInfo, 'name' | 'refreshSeconds'>,
  chosen: ChosenRefresh,
  runningMs = builtRunningMs,
): number | false => {
  if (chosen.ms === false || chosen.isOwn) return chosen.ms
  if (table.name === 'running-queries' && runningMs >= minMs) return runningMs
  return table.refreshSeconds === undefined ? chosen.ms : table.refreshSeconds * 1000
}
