import { readFileSync } from 'node:fs'
import { text as readText } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import { RequestError } from '../../client/failure.ts'
import { type CommandContext, type InputStream, openSession } from '../context.ts'
import { createUsageError, exitCodes } from '../exit-codes.ts'
import {
  addHostsOptions,
  isHostSet,
  reportFailedHosts,
  selectHosts,
  type HostOptions,
  type HostResult,
} from '../hosts.ts'
import { formatExamples, readWholeNumber } from '../options.ts'
import { formatCount, formatSeconds } from '../output/format.ts'
import type { Output } from '../output/output.ts'
import { createRowSink, type RowFormat, rowFormats } from '../output/row-sinks.ts'
import { runStatement, type Statement, type StatementMetadata } from '../statement/run-statement.ts'

interface QueryOptions extends HostOptions {
  file?: string
  format?: RowFormat
  param?: string[]
  database?: string
  maxRows?: string
  maxSeconds?: string
}

const maxRows = 1_000_000
const maxSeconds = 86_400
/** How long the server may need beyond the time limit of the statement. */
const marginSeconds = 10

const collect = (value: string, previous: string[] = []): string[] => [...previous, value]

/** Runs a read-only statement on one or several hosts. */
export const createQueryCommand = (context: CommandContext): Command =>
  addHostsOptions(new Command('query'))
    .description('run a read-only SQL statement on one or several hosts')
    .argument('[sql]', 'the statement; without it, or with -, it is read from standard input')
    .option('-f, --file <path>', 'read the statement from a file')
    .addOption(new Option('--format <format>', 'format of the rows (default: table)').choices(rowFormats))
    .option('-p, --param <name=value>', 'value of a placeholder {name:Type}; can be repeated', collect)
    .option('--database <name>', 'default database of the statement')
    .option('--max-rows <rows>', 'maximum number of rows of each host')
    .option('--max-seconds <seconds>', 'time limit of the statement')
    .addHelpText(
      'after',
      formatExamples(
        "watchhouse query 'SELECT count() FROM shop.orders'",
        "watchhouse query --host eu-1,eu-2 'SELECT version()'",
        'watchhouse query --all --format csv -f report.sql > report.csv',
        "watchhouse query --param day=2026-06-01 'SELECT {day:Date}'",
      ),
    )
    .action(async (sql: string | undefined, options: QueryOptions, command) => {
      const statement = await readStatement(context, sql, options)
      const body = toBody(statement, options)
      const session = openSession(context, command)
      const isJson = session.output.mode === 'json'
      if (isJson && options.format !== undefined && options.format !== 'json')
        throw createUsageError(`--json and --format ${options.format} exclude each other`)
      const hosts = await selectHosts(session.client, options)
      const format = isJson ? 'json' : (options.format ?? 'table')
      const sink = createRowSink(format, session.output)
      const results = await runStatement(context, session, {
        hosts,
        statement: body,
        sink,
        hasHostColumn: isHostSet(options) || hosts.length > 1,
        // A longer statement than by default needs a longer time limit of the request.
        timeoutMs: session.hasTimeout || !body.maxSeconds ? undefined : (body.maxSeconds + marginSeconds) * 1_000,
      })
      sink.end(!results.some((result) => 'error' in result && isIncomplete(result.error)))
      const exitCode = reportFailedHosts(results, session.output)
      const omitted = sink.omittedColumns()
      if (omitted.length > 0)
        session.output.note(`columns that only some hosts have are omitted: ${omitted.join(', ')}; use --format ndjson`)
      if (format === 'table') reportSummary(session.output, results)
      reportTruncation(session.output, results)
      if (exitCode !== 0 || omitted.length > 0) context.setExitCode(exitCode || exitCodes.failed)
    })

const isIncomplete = (error: unknown): boolean => error instanceof RequestError && error.code === 'incomplete-response'

const readStatement = async (
  { stdin }: CommandContext,
  sql: string | undefined,
  { file }: QueryOptions,
): Promise<string> => {
  if (sql !== undefined && sql !== '-' && file !== undefined)
    throw createUsageError('pass the statement as argument or with --file, not both')
  const statement = file === undefined ? await readArgument(stdin, sql) : readStatementFile(file)
  if (statement.trim() === '') throw createUsageError('the statement is empty')
  return statement
}

const readArgument = async (stdin: InputStream, sql: string | undefined): Promise<string> => {
  if (sql !== undefined && sql !== '-') return sql
  if (stdin.isTTY) throw createUsageError('no statement; pass it as argument, with --file or on standard input')
  return await readText(stdin)
}

const readStatementFile = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw createUsageError(`the file "${path}" cannot be read`)
  }
}

const toBody = (query: string, options: QueryOptions): Statement => {
  const { param: parameters = [], database } = options
  const rows = options.maxRows && readWholeNumber('--max-rows', options.maxRows, maxRows)
  const seconds = options.maxSeconds && readWholeNumber('--max-seconds', options.maxSeconds, maxSeconds)
  return {
    query,
    ...(parameters.length > 0 && { parameters: Object.fromEntries(parameters.map(readParameter)) }),
    ...(database !== undefined && { database }),
    ...(rows && { maxRows: rows }),
    ...(seconds && { maxSeconds: seconds }),
  }
}

const readParameter = (text: string): [name: string, value: string] => {
  const { name, value } = /^(?<name>\w{1,64})=(?<value>.*)$/s.exec(text)?.groups ?? {}
  if (name === undefined || value === undefined)
    throw createUsageError(`invalid --param "${text.split('=')[0]}"; allowed: name=value`)
  return [name, value]
}

const metadataOf = (results: readonly HostResult<StatementMetadata>[]): StatementMetadata[] =>
  results.flatMap((result) => ('value' in result ? [result.value] : []))

const reportSummary = ({ mode, note, paint }: Output, results: readonly HostResult<StatementMetadata>[]): void => {
  const found = metadataOf(results)
  if (mode !== 'terminal' || found.length === 0) return
  const total = (name: 'rows' | 'rowsRead') => found.reduce((sum, metadata) => sum + metadata[name], 0)
  const slowestMs = Math.max(...found.map(({ durationMs }) => durationMs))
  const figures = `${formatCount(total('rowsRead'))} rows read, ${formatSeconds(slowestMs / 1000)}`
  note(paint(`${total('rows')} rows, ${figures}`, 'muted'))
}

const reportTruncation = ({ note }: Output, results: readonly HostResult<StatementMetadata>[]): void => {
  for (const { host, truncated } of metadataOf(results))
    if (truncated)
      note(
        `${host}: the result is truncated to ${truncated.returned} rows (limit: ${truncated.limit} ${truncated.reason})`,
      )
}
