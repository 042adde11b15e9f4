import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import type { query, ChartData, ChartResult } from '#proto/query.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { narrowIntegers } from '../clickhouse/response.ts'
import type { QueryResult } from '../clickhouse/client.ts'
import { findClickhouseErrorCode, findFailureReason, createHostError } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { LoadedChart } from '../definitions/load.ts'
import { addChartHistory } from '../history/chart-history.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { queryChart, runChart, type ChartRequest, toChartData, prepareChart, type PreparedChart } from './chart.ts'

/** Returns the handler for several charts of one host. */
export const createChartsHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['charts'] =>
  async ({ hostKey, names, ...question }, call) => {
    const host = parts.hosts.get(hostKey)
    const results = await queryCharts(parts, host, [...new Set(names)], question, call)
    if (!parts.history.isEnabled) return results
    const extended = await mapConcurrently(Object.entries(results), async ([name, result]) => {
      const read = () => {
        const chart = parts.definitions.chart(name)
        return addChartHistory({ parts, host, chart, question, call }, async (wanted) =>
          wanted.interval === question.interval ? dataOf(result) : queryChart(parts, host, chart, wanted, call),
        )
      }
      return [name, await outcomeOf(read)] as const
    })
    return Object.fromEntries(extended)
  }

/** Returns the data of a chart, or throws its failure. */
const dataOf = (result: ChartResult): ChartData => {
  if (result.ok) return result.data
  const { code, message, details } = result.error
  throw new ServiceError(isErrorCode(code) ? code : 'internal', message, details && { details })
}

/** Maximum concurrent statements of one batch, so that slots of the host remain for others. */
const maxConcurrentStatements = 4
/** Maximum charts in one statement. */
const maxChartsPerStatement = 6

/** Reads several charts in few statements. A failure affects one chart only. Undeclared parameters are ignored. */
export const queryCharts = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  names: readonly string[],
  question: ChartRequest,
  call: CallContext,
): Promise<Record<string, ChartResult>> => {
  // Reads the capabilities once for all charts, so that an unresponsive host delays only one request.
  const learned = await outcomeOf(() => parts.client.capabilities(host, call))
  if (!learned.ok) return Object.fromEntries(names.map((name) => [name, learned]))
  const ready: PreparedChart[] = []
  const results = new Map<string, ChartResult>()
  await mapConcurrently(names, async (name) => {
    const prepared = await outcomeOf(() => prepareChart(parts, host, parts.definitions.chart(name), question, call))
    if (!prepared.ok) results.set(name, prepared)
    else if ('rows' in prepared.data) results.set(name, { ok: true, data: prepared.data })
    else ready.push(prepared.data)
  })
  const outcomes = await mapConcurrently(groupsOf(ready), (group) => queryGroup(parts, host, group, call))
  return Object.fromEntries([...results, ...outcomes.flat()])
}

/** Groups charts in a stable order, so that equal batches have equal statements. */
const groupsOf = (ready: readonly PreparedChart[]): PreparedChart[][] => {
  const groups: PreparedChart[][] = []
  for (const chart of ready.toSorted((a, b) => a.chart.name.localeCompare(b.chart.name))) {
    const group = groups.find(
      (others) => others.length < maxChartsPerStatement && others.every((other) => canShareStatement(other, chart)),
    )
    if (group) group.push(chart)
    else groups.push([chart])
  }
  return groups
}

/** Returns whether two charts can share a statement: same cache class, no Keeper reads, no conflicting parameters. */
const canShareStatement = ({ statement: a }: PreparedChart, { statement: b }: PreparedChart): boolean => {
  const { parameters: theirs = {} } = b
  const bound = Object.entries(a.parameters ?? {})
  const mayShare = !a.bare && !b.bare && !a.readsKeeper && !b.readsKeeper
  return mayShare && a.cache === b.cache && bound.every(([name, value]) => (theirs[name] ?? value) === value)
}

const queryGroup = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  group: readonly PreparedChart[],
  call: CallContext,
): Promise<(readonly [name: string, ChartResult])[]> => {
  const together = await outcomeOf(() => queryTogether(parts, host, group, call))
  if (!together.ok) return group.map(({ chart }) => [chart.name, together])
  return mapConcurrently(group, async (ready) => {
    const answer = together.data?.get(ready)
    const drawing = async () =>
      answer ? shared(toChartData(host, ready, answer), group.length) : runChart(parts, host, ready, call)
    return [ready.chart.name, await outcomeOf(drawing)] as const
  })
}

const shared = (data: ChartData, charts: number): ChartData => ({
  ...data,
  statement: data.statement && { ...data.statement, charts },
})

/** Runs a group in one statement. Returns undefined when its charts must run one by one. */
const queryTogether = async (
  { client }: QueryHandlerDeps,
  host: MonitoredHost,
  group: readonly PreparedChart[],
  call: CallContext,
): Promise<Map<PreparedChart, QueryResult> | undefined> => {
  if (group.length === 1) return undefined
  try {
    return resultsOf(host, group, await client.run(host, buildSharedStatement(group), call))
  } catch (error) {
    if (mayConcernOne(error)) return undefined
    throw error
  }
}

/** Returns whether a single chart may have caused the error; an unreachable host affects all charts. */
const mayConcernOne = (error: unknown): boolean =>
  findClickhouseErrorCode(error) !== undefined ||
  findFailureReason(error) === 'timeout' ||
  (error instanceof ServiceError && error.code === 'too-large')

type Outcome<T> = { ok: true; data: T } | Extract<ChartResult, { ok: false }>

const outcomeOf = async <T>(work: () => Promise<T>): Promise<Outcome<T>> => {
  try {
    return { ok: true, data: await work() }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, details } = error
    return { ok: false, error: { code, message, ...(details && { details }) } }
  }
}

const mapConcurrently = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: maxConcurrentStatements }, worker))
  return results
}

interface ChartStatement {
  chart: LoadedChart
  statement: Statement
}

/** The timeout of a shared statement. After it, the charts run one by one, so that a slow chart fails alone. */
const maxSeconds = 15

/** Returns one statement with one row per chart, which contains the rows of the chart as JSON text. */
const buildSharedStatement = (charts: readonly ChartStatement[]): Statement => ({
  what: 'charts',
  hot: true,
  maxSeconds,
  cache: charts[0]?.statement.cache,
  parameters: Object.assign({}, ...charts.map(({ statement }) => statement.parameters)),
  sql: charts.map(rowOf).join('\nUNION ALL\n'),
})

const rowOf = ({ chart, statement }: ChartStatement, index: number): string => {
  const names = chart.columns.map((column) => quoteName(column.name))
  const types = names.map((name) => `toTypeName(${name})`).join(', ')
  return `SELECT ${index} AS chart, any([${types}]) AS types, groupArray(formatRow('JSONCompactEachRow', ${names.join(', ')})) AS lines
FROM (
${statement.sql}
)`
}

const Row = z.tuple([z.coerce.number(), z.array(z.string()), z.array(z.string())])

/** Parses a JSON line into its cells. */
const readLine = (line: string): unknown[] => z.array(z.unknown()).parse(JSON.parse(line))

/** Splits a shared result by chart. Each part reports the cost of the whole statement. */
const resultsOf = <A extends ChartStatement>(
  host: MonitoredHost,
  charts: readonly A[],
  result: QueryResult,
): Map<A, QueryResult> => {
  const rows = z.array(Row).safeParse(result.rows)
  if (!rows.success) throw createHostError(host, 'garbage')
  const byIndex = new Map(rows.data.map(([index, types, lines]) => [index, { types, lines }]))
  const found = charts.map((each, index): [A, QueryResult] => {
    const { types = [], lines = [] } = byIndex.get(index) ?? {}
    const columns = each.chart.columns.map(({ name }, column) => ({ name, type: types[column] ?? '' }))
    return [each, { ...result, columns, rows: narrowIntegers(columns, lines.map(readLine)) }]
  })
  return new Map(found)
}
