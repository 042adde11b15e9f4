import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { text as readText } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import type { ResponseBody, RouteBody } from '#proto/http/route.ts'
import type { Client } from '../../client/client.ts'
import { type CommandContext, createCommandClient, type InputStream, openSession, type Session } from '../context.ts'
import { createUsageError } from '../exit-codes.ts'
import {
  allOption,
  forEachHost,
  hostOption,
  reportFailedHosts,
  selectHosts,
  type HostEntry,
  type HostOptions,
  type HostResult,
} from '../hosts.ts'
import { readWholeNumber } from '../options.ts'
import { formatCell } from '../output/cells.ts'
import { formatCsvLine } from '../output/csv.ts'
import { formatCount, formatSeconds } from '../output/format.ts'

const formats = ['table', 'csv', 'json', 'ndjson'] as const
type Format = (typeof formats)[number]

interface QueryOptions extends HostOptions {
  file?: string
  format?: Format
  param?: string[]
  database?: string
  maxRows?: string
  maxSeconds?: string
}

type QueryBody = RouteBody<'POST /api/v1/explorer/query'>
type QueryResult = ResponseBody<'POST /api/v1/explorer/query'>

const maxRows = 1_000_000
const maxSeconds = 86_400
/** How long Ctrl-C waits for the server to cancel the statement. */
const cancelWithinSeconds = 3

const collect = (value: string, previous: string[] = []): string[] => [...previous, value]

/** Runs a read-only statement on one or several hosts. */
export const createQueryCommand = (context: CommandContext): Command =>
  new Command('query')
    .description('run a read-only SQL statement on one or several hosts')
    .argument('[sql]', 'the statement; without it, or with -, it is read from standard input')
    .addOption(hostOption())
    .addOption(allOption())
    .option('-f, --file <path>', 'read the statement from a file')
    .addOption(new Option('--format <format>', 'format of the rows (default: table)').choices(formats))
    .option('-p, --param <name=value>', 'value of a placeholder {name:Type}; can be repeated', collect)
    .option('--database <name>', 'default database of the statement')
    .option('--max-rows <rows>', 'maximum number of rows of each host')
    .option('--max-seconds <seconds>', 'time limit of the statement')
    .action(async (sql: string | undefined, options: QueryOptions, command) => {
      const statement = await readStatement(context, sql, options)
      const body = toBody(statement, options)
      const session = openSession(context, command)
      const isJson = session.output.mode === 'json'
      if (isJson && options.format !== undefined && options.format !== 'json')
        throw createUsageError(`--json and --format ${options.format} exclude each other`)
      const hosts = await selectHosts(session.client, options)
      const isFanOut = options.all === true || hosts.length > 1
      const results = await runOnHosts(context, session, hosts, body)
      writeResults(session, results, isJson ? 'json' : (options.format ?? 'table'), isFanOut)
      const exitCode = reportFailedHosts(results, session.output)
      if (exitCode !== 0) context.setExitCode(exitCode)
    })

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

const toBody = (query: string, options: QueryOptions): Omit<QueryBody, 'hostId' | 'runId'> => {
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

/** Runs the statement on all hosts. After Ctrl-C, cancels the runs on the server before it fails. */
const runOnHosts = async (
  context: CommandContext,
  { client }: Session,
  hosts: readonly HostEntry[],
  body: Omit<QueryBody, 'hostId' | 'runId'>,
): Promise<HostResult<QueryResult>[]> => {
  const running = new Map<string, HostEntry>()
  const results = await forEachHost(hosts, async (host) => {
    const runId = randomUUID()
    running.set(runId, host)
    const result = await client.call('POST /api/v1/explorer/query', { body: { ...body, hostId: host.id, runId } })
    running.delete(runId)
    return result
  })
  if (context.signal.aborted) {
    const { url, apiKey } = client
    // The signal of the command ends every request of its own client.
    const unaborted = { ...context, signal: new AbortController().signal }
    await cancelRuns(createCommandClient(unaborted, { url, apiKey, timeout: cancelWithinSeconds }), running)
    context.signal.throwIfAborted()
  }
  return results
}

/** Cancels the runs. A run that has ended meanwhile is no failure. */
const cancelRuns = async (client: Client, running: ReadonlyMap<string, HostEntry>): Promise<void> => {
  await Promise.allSettled(
    [...running].map(([runId, { id }]) =>
      client.call('DELETE /api/v1/explorer/query/{runId}', { path: { runId }, query: { hostId: id } }),
    ),
  )
}

type Row = Readonly<Record<string, unknown>>

const hostColumn = '_host'

const writeResults = (
  { output }: Session,
  results: readonly HostResult<QueryResult>[],
  format: Format,
  isFanOut: boolean,
): void => {
  const parts = results.flatMap((result) => ('value' in result ? [result] : []))
  if (parts.length === 0) return
  const names = [...new Set(parts.flatMap(({ value }) => value.data.columns.map(({ name }) => name)))]
  const rows = parts.flatMap(({ host, value: { data } }) =>
    data.rows.map((cells): Row => {
      const named = data.columns.map(({ name }, index) => [name, cells[index]] as const)
      return Object.fromEntries([...(isFanOut ? [[hostColumn, host.name] as const] : []), ...named])
    }),
  )
  const columns = isFanOut ? [hostColumn, ...names] : names
  if (format === 'json') output.json(rows)
  else if (format === 'ndjson') for (const row of rows) output.line(JSON.stringify(row))
  else if (format === 'csv')
    for (const line of [columns, ...rows.map((row) => columns.map((name) => row[name]))])
      output.write(formatCsvLine(line))
  else {
    const isNumeric = (name: string) => rows.every((row) => row[name] == null || typeof row[name] === 'number')
    const shown = columns.map((name) => ({
      title: name,
      value: (row: Row) => formatCell(row[name]),
      isRight: isNumeric(name),
    }))
    output.list({ rows, columns: shown, empty: 'No rows.' })
    if (output.mode === 'terminal') output.note(output.paint(summarize(parts), 'muted'))
  }
  for (const { host, value } of parts) {
    const { truncated } = value.metadata
    if (truncated)
      output.note(
        `${host.name}: the result is truncated to ${truncated.returned} rows (limit: ${truncated.limit} ${truncated.reason})`,
      )
  }
}

const summarize = (parts: readonly { value: QueryResult }[]): string => {
  const total = (read: (metadata: QueryResult['metadata']) => number) =>
    parts.reduce((sum, { value }) => sum + read(value.metadata), 0)
  const rows = parts.reduce((sum, { value }) => sum + value.data.rows.length, 0)
  const slowestMs = Math.max(...parts.map(({ value }) => value.metadata.durationMs))
  return `${rows} rows, ${formatCount(total(({ rowsRead }) => rowsRead))} rows read, ${formatSeconds(slowestMs / 1000)}`
}
