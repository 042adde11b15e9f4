import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import {
  maxResultRows,
  type ResultColumn,
  type ResultFormat,
  type Truncation,
  defaultResultRows,
} from '#proto/console.ts'
import type { StreamHandlerResult } from '#proto/contract.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import { toIncompleteReason, findSystemTables } from '../clickhouse/show-privileges.ts'
import type { StatementExecution } from '#proto/query.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { parseJson } from '#shared/text/strings.ts'
import type { StreamResult } from '../clickhouse/client.ts'
import type { HostBody } from '../clickhouse/host-body.ts'
import { toStatementFacts } from '../clickhouse/cost.ts'
import type { Statement, StatementParameters, StreamFormat } from '../clickhouse/statement.ts'
import { readPermissions, settings } from '../config.ts'
import { compareVersions } from '../clickhouse/capabilities.ts'
import { toCallerError } from '../explain/explain.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { exportStreamFormats, textFormats } from '../pages/export-table.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { checkCallerStatement } from '../read-only/caller-statement.ts'
import type { StatementPermissions } from '../read-only/read-only.ts'
import { streamRows, type RowStreamSummary, parseFailure, maxRowBytes } from '../rows/rows.ts'
import { streamTextRows } from '../rows/text-rows.ts'
import type { ConsoleRun, RunRegistry } from './run-registry.ts'

interface StatementRequest {
  query: string
  database?: string | undefined
  parameters?: StatementParameters | undefined
  maxSeconds?: number | undefined
  purpose?: string | undefined
}

/** Maximum memory of a statement of a caller or a tool on the host. */
export const maxStatementMemoryBytes = 4 * 1024 * 1024 * 1024

/** The first version with `http_write_exception_in_output_format`, which some later versions enable by default. */
const exceptionSettingSince = '23.9'

/**
 * Returns the statement of a caller as it is sent. Throws `invalid` unless it only reads. The setting `limit` limits
 * the outer SELECT without a change to its text; one additional row shows whether there are more. DESCRIBE ignores the
 * setting, and EXPLAIN would show it as part of the statement.
 */
const consoleStatement = (
  { query, database, parameters, maxSeconds, purpose }: StatementRequest,
  maxRows: number,
  { version, ...allowed }: StatementPermissions & { version: string },
): Statement => {
  let explains = false
  const sql = checkCallerStatement(query, ([first]) => (explains = first?.word === 'EXPLAIN'), allowed)
  return {
    what: purpose ?? 'console',
    sql,
    limits: {
      ...(!explains && { limit: maxRows + 1 }),
      max_memory_usage: maxStatementMemoryBytes,
      // Quoted decimals and denormals keep their exact values in JSON.
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
      output_format_json_quote_denormals: 1,
      ...(compareVersions(version, exceptionSettingSince) >= 0 && { http_write_exception_in_output_format: 0 }),
    },
    ...(database !== undefined && { database }),
    ...(parameters !== undefined && { parameters }),
    ...(maxSeconds !== undefined && { maxSeconds }),
  }
}

const newline = 0x0a
const Texts = z.array(z.string())

/** Reads the two header lines of `JSONCompactEachRowWithNamesAndTypes` and returns the body after them. */
const readColumns = async (
  host: MonitoredHost,
  body: HostBody,
): Promise<{ columns: ResultColumn[]; rows: HostBody }> => {
  let bytes: Buffer = Buffer.alloc(0)
  for (;;) {
    const end = bytes.indexOf(newline, bytes.indexOf(newline) + 1)
    const isWhole = end > bytes.indexOf(newline)
    const more = isWhole || bytes.length > maxRowBytes ? undefined : await body.take(bytes)
    if (more) {
      bytes = more
      continue
    }
    const columns = isWhole ? columnsOf(bytes.toString('utf8', 0, end)) : undefined
    if (!columns) throw parseFailure(host, bytes)
    return { columns, rows: withPrefix(bytes.subarray(end + 1), body) }
  }
}

const columnsOf = (head: string): ResultColumn[] | undefined => {
  const [names, types] = head.split('\n').map(textsOf)
  return names && types && names.map((name, index) => ({ name, type: types[index] ?? '' }))
}

const textsOf = (line: string): string[] | undefined => Texts.safeParse(parseJson(line)).data

/** Returns a body that first returns bytes that were read in advance. */
const withPrefix = (prefix: Buffer, { take, leave }: HostBody): HostBody => {
  let pending: Buffer | undefined = prefix.length > 0 ? prefix : undefined
  return {
    leave,
    async take(left) {
      const piece = pending ?? (await take(left))
      pending = undefined
      return piece
    },
  }
}

/** A request to run a statement. */
export interface RunRequest extends StatementRequest {
  hostKey: string
  maxRows?: number | undefined
  maxBytes: number
  runId?: string | undefined
  format: ResultFormat
}

/** The summary of a run, which follows the last row. */
export interface RunSummary {
  truncated: Truncation | null
  statement: StatementExecution
}

/** A run whose first rows have arrived. */
export type StreamedRun = StreamHandlerResult<{ columns: ResultColumn[] | null }, Buffer, RunSummary>

/** A running statement, with the maximum rows and bytes of its result. */
interface StartedRun {
  host: MonitoredHost
  statement: Statement
  answer: StreamResult
  run: ConsoleRun
  limits: { rows: number; bytes: number }
  startedAtMs: number
  incomplete: IncompleteReason | null
}

const streamFormats: Readonly<Record<ResultFormat, StreamFormat>> = {
  ...exportStreamFormats,
  json: 'JSONCompactEachRowWithNamesAndTypes',
}
const rowCapSetting = { SVC_TABLE_MAX_RESULT_ROWS: settings.SVC_TABLE_MAX_RESULT_ROWS }

/** Runs a statement of a caller until its first bytes arrive. Throws `invalid` unless it only reads. */
export const startConsoleRun = async (
  parts: QueryHandlerDeps,
  running: RunRegistry,
  request: RunRequest,
  call: CallContext,
): Promise<StreamedRun> => {
  const host = parts.hosts.get(request.hostKey)
  const limits = { rows: rowLimit(parts, request), bytes: request.maxBytes }
  const { version, missingShow } = await parts.client.capabilities(host, call)
  const statement = consoleStatement(request, limits.rows, { version, ...readPermissions(parts.env) })
  const incomplete = toIncompleteReason(host, missingShow, findSystemTables(statement.sql))
  const run = running.enter(host, call, request.runId)
  const startedAtMs = performance.now()
  try {
    const context = { ...call, signal: run.signal }
    const identified = { ...statement, id: run.statementId }
    const answer = await parts.client.stream(host, identified, context, streamFormats[request.format])
    return await streamRun({ host, statement, answer, run, limits, startedAtMs, incomplete }, request.format)
  } catch (error) {
    run[Symbol.dispose]()
    throw toCallerError(error, statement.sql, statement.sql)
  }
}

const streamRun = async (started: StartedRun, format: ResultFormat): Promise<StreamedRun> => {
  const { host, answer, limits } = started
  if (format !== 'json') {
    const passedRows =
      format === 'jsoneachrow'
        ? streamRows(host, answer.body, limits.rows, { maxBytes: limits.bytes })
        : streamTextRows(host, answer.body, textFormats[format], limits.rows, limits.bytes)
    return { head: { columns: null }, frames: frames(started, passedRows) }
  }
  try {
    const { columns, rows } = await readColumns(host, answer.body)
    const passedRows = streamRows(host, rows, limits.rows, { maxBytes: limits.bytes, columns })
    return { head: { columns }, frames: frames(started, passedRows) }
  } catch (error) {
    answer.body.leave()
    throw error
  }
}

async function* frames(
  { host, statement, answer, run, limits, startedAtMs, incomplete }: StartedRun,
  passedRows: AsyncGenerator<Buffer, RowStreamSummary, void>,
): AsyncGenerator<Buffer, RunSummary, void> {
  try {
    const { rows, truncated } = yield* passedRows
    const result = { ...answer, durationMs: performance.now() - startedAtMs }
    return {
      truncated: truncated ? truncation(rows, limits) : null,
      statement: toStatementFacts(host, statement, result, rows, undefined, incomplete),
    }
  } catch (error) {
    throw toCallerError(error, statement.sql, statement.sql)
  } finally {
    run[Symbol.dispose]()
    answer.body.leave()
  }
}

const truncation = (returned: number, limits: StartedRun['limits']): Truncation =>
  returned >= limits.rows
    ? { reason: 'rows', limit: limits.rows, returned }
    : { reason: 'bytes', limit: limits.bytes, returned }

/** Returns the requested or default number of rows. The row cap applies to pages, not to files. */
const rowLimit = ({ env }: QueryHandlerDeps, { maxRows = defaultResultRows, format }: RunRequest): number =>
  format === 'json'
    ? Math.min(maxRows, parseSettings(rowCapSetting, env).SVC_TABLE_MAX_RESULT_ROWS ?? maxResultRows)
    : maxRows
