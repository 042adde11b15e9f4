import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { mostRows, type ResultColumn, type ResultFormat, type Truncation, usualRows } from '#proto/console.ts'
import type { Produced } from '#proto/contract.ts'
import type { StatementFacts } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import type { ByteAnswer } from '../clickhouse/client.ts'
import type { HostBody } from '../clickhouse/host-body.ts'
import { readLimits } from '../clickhouse/limits.ts'
import { statementFacts } from '../clickhouse/cost.ts'
import type { Statement, StreamFormat, ParameterValue } from '../clickhouse/statement.ts'
import { allowedBy, settings } from '../config.ts'
import { compareVersions } from '../clickhouse/capabilities.ts'
import { callersFailure } from '../explain/explain.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { hostFormats, textFormats } from '../pages/export-table.ts'
import type { Parts } from '../parts.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import type { Allowed } from '../read-only/read-only.ts'
import { passRows, type Passed, failureIn, maxRowBytes } from '../rows/rows.ts'
import { passTextRows } from '../rows/text-rows.ts'
import type { Run, Running } from './running.ts'

/** What is asked of a run, its limits settled. */
interface Asked {
  query: string
  database?: string | undefined
  parameters?: Readonly<Record<string, ParameterValue>> | undefined
  maxSeconds?: number | undefined
  purpose?: string | undefined
}

/** Most memory that a statement of a caller or a tool takes on the host. */
export const maxMemoryBytes = 4 * 1024 * 1024 * 1024

/** Servers from then on dress a failure after the first rows as a row, unless told not to; newer ones do not by themselves. */
const failuresAsRows = '23.9'

/**
 * A caller's statement as it is sent; throws `invalid` unless it only reads. The setting `limit` bounds the outer SELECT
 * exactly and leaves its text alone; the one row more tells whether there are more. DESCRIBE does not obey it, and EXPLAIN
 * would tell of it as if the caller had written it.
 */
const consoleStatement = (
  { query, database, parameters, maxSeconds, purpose }: Asked,
  maxRows: number,
  { version, ...allowed }: Allowed & { version: string },
): Statement => {
  let explains = false
  const sql = callersStatement(query, ([first]) => (explains = first?.word === 'EXPLAIN'), allowed)
  return {
    what: purpose ?? 'console',
    sql,
    limits: {
      ...(!explains && { limit: maxRows + 1 }),
      max_memory_usage: maxMemoryBytes,
      // Also for decimals and what is no number: JSON of the console loses nothing.
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
      output_format_json_quote_denormals: 1,
      ...(compareVersions(version, failuresAsRows) >= 0 && { http_write_exception_in_output_format: 0 }),
    },
    ...(database !== undefined && { database }),
    ...(parameters !== undefined && { parameters }),
    ...(maxSeconds !== undefined && { maxSeconds }),
  }
}

const newline = 0x0a
const Texts = z.array(z.string())

/** The two lines with which `JSONCompactEachRowWithNamesAndTypes` begins, and what follows them. */
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
    if (!columns) throw failureIn(host, bytes)
    return { columns, rows: withBack(bytes.subarray(end + 1), body) }
  }
}

const columnsOf = (head: string): ResultColumn[] | undefined => {
  const [names, types] = head.split('\n').map(textsOf)
  return names && types && names.map((name, index) => ({ name, type: types[index] ?? '' }))
}

const textsOf = (line: string): string[] | undefined => Texts.safeParse(parseJson(line)).data

/** The body with what was read too far of it. */
const withBack = (rest: Buffer, { take, leave }: HostBody): HostBody => {
  let back: Buffer | undefined = rest.length > 0 ? rest : undefined
  return {
    leave,
    async take(left) {
      const piece = back ?? (await take(left))
      back = undefined
      return piece
    },
  }
}

/** A run as a caller asks for it. */
export interface AskedRun extends Asked {
  hostKey: string
  maxRows?: number | undefined
  maxBytes: number
  runId?: string | undefined
  format: ResultFormat
}

/** What is known of a run after its last row. */
export interface Ran {
  truncated: Truncation | null
  statement: StatementFacts
}

/** A run that has begun to answer. */
export type BegunRun = Produced<{ columns: ResultColumn[] | null }, Buffer, Ran>

/** A running statement, and what its rows are passed on with. */
interface Begun {
  host: MonitoredHost
  statement: Statement
  answer: ByteAnswer
  run: Run
  limits: { rows: number; bytes: number }
  startedAtMs: number
}

const streamFormats: Readonly<Record<ResultFormat, StreamFormat>> = {
  ...hostFormats,
  json: 'JSONCompactEachRowWithNamesAndTypes',
}
const obeyed = { SVC_TABLE_MAX_RESULT_ROWS: settings.SVC_TABLE_MAX_RESULT_ROWS }

/** Runs a caller's statement, if it only reads, up to its first bytes. */
export const openRun = async (parts: Parts, running: Running, asked: AskedRun, call: Call): Promise<BegunRun> => {
  const host = parts.hosts.get(asked.hostKey)
  const limits = { rows: rowLimit(parts, asked), bytes: asked.maxBytes }
  const { version } = await parts.client.capabilities(host, call)
  const statement = consoleStatement(asked, limits.rows, { version, ...allowedBy(parts.env) })
  const run = running.enter(host, call, mostRuns(parts), asked.runId)
  const startedAtMs = performance.now()
  try {
    const asking = { ...call, signal: run.signal }
    const answer = await parts.client.stream(host, statement, asking, streamFormats[asked.format])
    return await begin({ host, statement, answer, run, limits, startedAtMs }, asked.format)
  } catch (error) {
    run[Symbol.dispose]()
    throw callersFailure(error, statement.sql, statement.sql)
  }
}

const begin = async (begun: Begun, format: ResultFormat): Promise<BegunRun> => {
  const { host, answer, limits } = begun
  if (format !== 'json') {
    const passing =
      format === 'jsoneachrow'
        ? passRows(host, answer.body, limits.rows, { maxBytes: limits.bytes })
        : passTextRows(host, answer.body, textFormats[format], limits.rows, limits.bytes)
    return { head: { columns: null }, frames: frames(begun, passing) }
  }
  try {
    const { columns, rows } = await readColumns(host, answer.body)
    const passing = passRows(host, rows, limits.rows, { maxBytes: limits.bytes, columns })
    return { head: { columns }, frames: frames(begun, passing) }
  } catch (error) {
    answer.body.leave()
    throw error
  }
}

async function* frames(
  { host, statement, answer, run, limits, startedAtMs }: Begun,
  passing: AsyncGenerator<Buffer, Passed, void>,
): AsyncGenerator<Buffer, Ran, void> {
  try {
    const { rows, truncated } = yield* passing
    const ran = { ...answer, durationMs: performance.now() - startedAtMs }
    return {
      truncated: truncated ? truncation(rows, limits) : null,
      statement: statementFacts(host, statement, ran, rows, undefined),
    }
  } catch (error) {
    throw callersFailure(error, statement.sql, statement.sql)
  } finally {
    run[Symbol.dispose]()
    answer.body.leave()
  }
}

const truncation = (returned: number, limits: Begun['limits']): Truncation =>
  returned >= limits.rows
    ? { reason: 'rows', limit: limits.rows, returned }
    : { reason: 'bytes', limit: limits.bytes, returned }

/** The asked rows or as many as are usual. The cap of tables bounds what a page has to hold; a file has what was asked for. */
const rowLimit = ({ env }: Parts, { maxRows = usualRows, format }: AskedRun): number =>
  format === 'json' ? Math.min(maxRows, read(obeyed, env).SVC_TABLE_MAX_RESULT_ROWS ?? mostRows) : maxRows

/** Callers may use every connection that `COLUMNDB_POOL_SIZE` allows for a host. */
export const mostRuns = ({ env }: Pick<Parts, 'env'>): number => readLimits(env).pool.size
