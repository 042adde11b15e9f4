import { z } from 'zod'
import type { StatementExecution } from '#proto/query.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { parseJson } from '#shared/text/strings.ts'
import { type MonitoredHost, toTelemetryName } from '../hosts/host-list.ts'
import type { Statement } from './statement.ts'

/** Returns a function that counts one result that was served without a query to the host. */
export const createReuseCounter = ({ metrics: registry }: Telemetry, source: 'cache' | 'shared') => {
  const results = metrics.answersCompleted(registry)
  return (): void => results.inc({ source })
}

/** Returns a function that counts one result from a host, and the rows and bytes that the host read for it. */
export const createCostCounter = ({ metrics: registry }: Telemetry) => {
  const results = metrics.answersCompleted(registry)
  const rows = metrics.rowsRead(registry)
  const bytes = metrics.bytesRead(registry)
  return (host: MonitoredHost, { rowsRead, bytesRead }: { rowsRead: number; bytesRead: number }): void => {
    const label = { host: toTelemetryName(host) }
    results.inc({ source: 'host' })
    rows.inc(label, rowsRead)
    bytes.inc(label, bytesRead)
  }
}

const Summary = z.object({ read_rows: z.coerce.number().catch(0), read_bytes: z.coerce.number().catch(0) })

/** Parses the header `X-ClickHouse-Summary`. For streamed results, it omits reads after the start of the response. */
export const parseSummaryHeader = (
  headers: Record<string, string | string[] | undefined>,
): { rowsRead: number; bytesRead: number } => {
  const text = headers['x-clickhouse-summary']
  const summary = typeof text === 'string' ? Summary.safeParse(parseJson(text)) : undefined
  return { rowsRead: summary?.data?.read_rows ?? 0, bytesRead: summary?.data?.read_bytes ?? 0 }
}

interface StatementRun {
  queryId: string
  durationMs: number
  clickhouseVersion: string
  rowsRead: number
  bytesRead: number
}

/** Returns the details of a statement for the response to the caller, such as its query id, duration and rows read. */
export const toStatementFacts = (
  host: MonitoredHost,
  statement: Statement,
  run: StatementRun,
  rows: number,
  timezone: string | undefined,
  incomplete: IncompleteReason | null = null,
): StatementExecution => ({
  queryId: run.queryId,
  durationMs: run.durationMs,
  rows,
  rowsRead: run.rowsRead,
  bytesRead: run.bytesRead,
  host: host.name,
  clickhouseVersion: run.clickhouseVersion,
  sql: statement.sql,
  timezone: timezone ?? null,
  incomplete,
})
