import { z } from 'zod'
import type { StatementFacts } from '#proto/query.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import { type MonitoredHost, telemetryName } from '../hosts/host-list.ts'
import type { Statement } from './statement.ts'

/** Counts answers that cost a host nothing. */
export const reusing = ({ metrics: registry }: Telemetry, source: 'cache' | 'shared') => {
  const given = metrics.answersGiven(registry)
  return (): void => given.inc({ source })
}

/** Counts answers of hosts, and what they say that they read for them. */
export const costing = ({ metrics: registry }: Telemetry) => {
  const given = metrics.answersGiven(registry)
  const rows = metrics.rowsRead(registry)
  const bytes = metrics.bytesRead(registry)
  return (host: MonitoredHost, { rowsRead, bytesRead }: { rowsRead: number; bytesRead: number }): void => {
    const label = { host: telemetryName(host) }
    given.inc({ source: 'host' })
    rows.inc(label, rowsRead)
    bytes.inc(label, bytesRead)
  }
}

const Summary = z.object({ read_rows: z.coerce.number().catch(0), read_bytes: z.coerce.number().catch(0) })

/** Reads `X-ClickHouse-Summary`; of a streamed answer it says what had been read when the first byte left. */
export const readSummary = (
  headers: Record<string, string | string[] | undefined>,
): { rowsRead: number; bytesRead: number } => {
  const text = headers['x-clickhouse-summary']
  const summary = typeof text === 'string' ? Summary.safeParse(parseJson(text)) : undefined
  return { rowsRead: summary?.data?.read_rows ?? 0, bytesRead: summary?.data?.read_bytes ?? 0 }
}

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
