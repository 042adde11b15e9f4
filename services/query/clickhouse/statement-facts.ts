import type { StatementFacts } from '#proto/query.ts'
import type { Statement } from './statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

interface Ran {
  queryId: string
  durationMs: number
  clickhouseVersion: string
  rowsRead: number
  bytesRead: number
}

/** What callers may know of a statement that ran. */
export const statementFacts = (
  host: MonitoredHost,
  statement: Statement,
  ran: Ran,
  rows: number,
  timezone: string | undefined,
): StatementFacts => ({
  queryId: ran.queryId,
  durationMs: ran.durationMs,
  rows,
  rowsRead: ran.rowsRead,
  bytesRead: ran.bytesRead,
  host: host.name,
  clickhouseVersion: ran.clickhouseVersion,
  sql: statement.sql,
  timezone: timezone ?? null,
})
