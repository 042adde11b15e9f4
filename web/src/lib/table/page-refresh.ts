import type { TableInfo } from '#proto/catalogue.ts'

/** Refresh interval of the running queries, set at build time, in milliseconds. It overrides the table definition. */
const builtRunningQueriesRefreshMs = Number(import.meta.env?.CLIENT_RUNNING_QUERIES_REFRESH_MS ?? Number.NaN)
const minRefreshMs = 1_000

/** The interval that the user selected, or the default. */
export interface RefreshSelection {
  ms: number | false
  isOwn: boolean
}

/** Returns the refresh interval of a table page in milliseconds: that of the user, of the table, or the default. */
export const getPageRefreshMs = (
  table: Pick<TableInfo, 'name' | 'refreshSeconds'>,
  chosen: RefreshSelection,
  runningMs = builtRunningQueriesRefreshMs,
): number | false => {
  if (chosen.ms === false || chosen.isOwn) return chosen.ms
  if (table.name === 'running-queries' && runningMs >= minRefreshMs) return runningMs
  return table.refreshSeconds === undefined ? chosen.ms : table.refreshSeconds * 1000
}
