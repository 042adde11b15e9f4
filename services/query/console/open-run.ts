import type { Call } from '#proto/call.ts'
import { mostRows, type ResultColumn, type ResultFormat, type Truncation, usualRows } from '#proto/console.ts'
import type { Produced } from '#proto/contract.ts'
import type { StatementFacts } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import type { ByteAnswer } from '../clickhouse/client.ts'
import { readLimits } from '../clickhouse/limits.ts'
import type { Statement, StreamFormat } from '../clickhouse/statement.ts'
import { allowedBy, settings } from '../config.ts'
import { callersFailure } from '../explain/callers-failure.ts'
import { hostFormats, textFormats } from '../handlers/export-table.ts'
import type { Parts } from '../handlers/parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { passRows, type Passed } from '../rows.ts'
import { statementFacts } from '../statement-facts.ts'
import { passTextRows } from '../text-rows.ts'
import { readColumns } from './columns.ts'
import type { Run, Running } from './running.ts'
import { type Asked, consoleStatement } from './statement.ts'

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
const mostRuns = ({ env }: Parts): number => readLimits(env).pool.size
