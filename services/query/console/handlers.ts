import { z } from 'zod'
import type { consoleMethods, ResultColumn, RunProgress } from '#proto/console.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { RowValues } from '#proto/statement.ts'
import { parseJson } from '#shared/text/strings.ts'
import { isWideInteger, narrowInteger } from '../clickhouse/response.ts'
import { createHostError } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { startConsoleRun } from './start-run.ts'
import type { RunRegistry } from './run-registry.ts'

const Rows = z.array(RowValues)

/** Parses rows of `JSONCompactEachRow`; 64-bit integers are numbers when they fit, else text. */
const parseRows = (host: MonitoredHost, text: string, columns: readonly ResultColumn[]): unknown[][] => {
  const wide = columns.map(({ type }) => isWideInteger(type))
  const rows = Rows.safeParse(parseJson(`[${quoteLongIntegers(text).trimEnd().replaceAll('\n', ',')}]`))
  if (!rows.success) throw createHostError(host, 'garbage')
  return rows.data.map((row) => row.map((value, index) => (wide[index] ? narrowInteger(value) : value)))
}

/** Quotes long integers, because read-only users cannot set their quoting and JSON numbers would lose digits. */
const quoteLongIntegers = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) ? `"${token}"` : token,
  )

const progressSql =
  'SELECT elapsed, read_rows, read_bytes, total_rows_approx FROM system.processes WHERE query_id = {id:String}'
const ProgressRow = z.tuple([z.coerce.number(), z.coerce.number(), z.coerce.number(), z.coerce.number()])

const toRunProgress = (row: readonly unknown[]): RunProgress => {
  const [elapsedSeconds, rowsRead, bytesRead, totalRows] = ProgressRow.parse(row)
  return { elapsedSeconds, rowsRead, bytesRead, totalRows: totalRows > 0 ? totalRows : null }
}

/** Returns the handlers that run, stream and cancel SQL of callers. */
export const createConsoleHandlers = (
  parts: QueryHandlerDeps,
  running: RunRegistry,
): ServiceHandlers<Service<typeof consoleMethods>> => ({
  streamQuery: (request, call) => startConsoleRun(parts, running, request, call),
  async runQuery(request, call) {
    const { head, frames } = await startConsoleRun(parts, running, { ...request, format: 'json' }, call)
    const chunks: Buffer[] = []
    let next = await frames.next()
    for (; !next.done; next = await frames.next()) chunks.push(Buffer.from(next.value))
    const columns = head.columns ?? []
    const rows = parseRows(parts.hosts.get(request.hostKey), Buffer.concat(chunks).toString('utf8'), columns)
    return { columns, rows, ...next.value }
  },
  async runProgress({ hostKey, runId }, call) {
    const host = parts.hosts.get(hostKey)
    const id = running.findStatementId(host, call.identity, runId)
    if (id === undefined) return null
    const statement = { what: 'console-progress', sql: progressSql, parameters: { id }, short: true } as const
    const { rows } = await parts.client.run(host, statement, call)
    return rows[0] ? toRunProgress(rows[0]) : null
  },
  async cancelQuery({ hostKey, runId }, { identity }) {
    const host = parts.hosts.get(hostKey)
    if (running.cancel(host, identity, runId)) return { cancelled: true }
    throw new ServiceError('not-found', `you have no query running with this ID on host ${host.name}`, {
      details: { parameter: 'runId' },
    })
  },
})
