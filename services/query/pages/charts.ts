import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query, ChartData, ChartResult } from '#proto/query.ts'
import { quoteName } from '#shared/sql/quote.ts'
import { narrowed } from '../clickhouse/answer.ts'
import type { Answer } from '../clickhouse/client.ts'
import { clickhouseCode, failureReason, hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { LoadedChart } from '../definitions/load.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from '../parts.ts'
import { askChart, type ChartQuestion, drawn, prepareChart, type ReadyChart } from './chart.ts'

/** Several charts of one host, each of them once. */
export const charts =
  (parts: Parts): Handlers<typeof query>['charts'] =>
  async ({ hostKey, names, ...question }, call) =>
    drawCharts(parts, parts.hosts.get(hostKey), [...new Set(names)], question, call)

/** Statements of one batch that a host works on at the same time; it leaves turns to others. */
const maxAtOnce = 4
/** Charts that one statement answers. */
const maxTogether = 6

/** Charts of one host by name, in few statements; each fails alone, and takes only the parameters that it declares. */
export const drawCharts = async (
  parts: Parts,
  host: MonitoredHost,
  names: readonly string[],
  question: ChartQuestion,
  call: Call,
): Promise<Record<string, ChartResult>> => {
  // All charts need it, and a host that does not answer keeps one question waiting instead of a round of them.
  const learned = await outcomeOf(() => parts.client.capabilities(host, call))
  if (!learned.ok) return Object.fromEntries(names.map((name) => [name, learned]))
  const ready: ReadyChart[] = []
  const results = new Map<string, ChartResult>()
  await mapAtOnce(names, async (name) => {
    const prepared = await outcomeOf(() => prepareChart(parts, host, parts.definitions.chart(name), question, call))
    if (!prepared.ok) results.set(name, prepared)
    else if ('rows' in prepared.data) results.set(name, { ok: true, data: prepared.data })
    else ready.push(prepared.data)
  })
  const asked = await mapAtOnce(groupsOf(ready), (group) => askGroup(parts, host, group, call))
  return Object.fromEntries([...results, ...asked.flat()])
}

/** In one order, so that equal batches have equal statements. */
const groupsOf = (ready: readonly ReadyChart[]): ReadyChart[][] => {
  const groups: ReadyChart[][] = []
  for (const chart of ready.toSorted((a, b) => a.chart.name.localeCompare(b.chart.name))) {
    const group = groups.find((others) => others.length < maxTogether && others.every((other) => fit(other, chart)))
    if (group) group.push(chart)
    else groups.push([chart])
  }
  return groups
}

/** Whether one statement may answer both: with settings, without Keeper, kept equally long, and no name bound to two values. */
const fit = ({ statement: a }: ReadyChart, { statement: b }: ReadyChart): boolean => {
  const { parameters: theirs = {} } = b
  const bound = Object.entries(a.parameters ?? {})
  const mayShare = !a.bare && !b.bare && !a.readsKeeper && !b.readsKeeper
  return mayShare && a.cache === b.cache && bound.every(([name, value]) => (theirs[name] ?? value) === value)
}

const askGroup = async (
  parts: Parts,
  host: MonitoredHost,
  group: readonly ReadyChart[],
  call: Call,
): Promise<(readonly [name: string, ChartResult])[]> => {
  const together = await outcomeOf(() => askTogether(parts, host, group, call))
  if (!together.ok) return group.map(({ chart }) => [chart.name, together])
  return mapAtOnce(group, async (ready) => {
    const answer = together.data?.get(ready)
    const drawing = async () =>
      answer ? shared(drawn(host, ready, answer), group.length) : askChart(parts, host, ready, call)
    return [ready.chart.name, await outcomeOf(drawing)] as const
  })
}

const shared = (data: ChartData, charts: number): ChartData => ({
  ...data,
  statement: data.statement && { ...data.statement, charts },
})

/** The answer of each chart; none when they are to be asked one by one. */
const askTogether = async (
  { client }: Parts,
  host: MonitoredHost,
  group: readonly ReadyChart[],
  call: Call,
): Promise<Map<ReadyChart, Answer> | undefined> => {
  if (group.length === 1) return undefined
  try {
    return answersOf(host, group, await client.run(host, togetherStatement(group), call))
  } catch (error) {
    if (mayConcernOne(error)) return undefined
    throw error
  }
}

/** A statement that failed or took too long may have done so for one of its charts; a host that is away is away for all. */
const mayConcernOne = (error: unknown): boolean =>
  clickhouseCode(error) !== undefined ||
  failureReason(error) === 'timeout' ||
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

const mapAtOnce = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: maxAtOnce }, worker))
  return results
}

interface Asked {
  chart: LoadedChart
  statement: Statement
}

/** Charts that take longer together are asked one by one, so that a slow one costs the others no more than this. */
const maxSeconds = 15

/** One statement for charts of one cache class whose parameters agree: a row for each, its own rows as JSON text. */
const togetherStatement = (asked: readonly Asked[]): Statement => ({
  what: 'charts',
  hot: true,
  maxSeconds,
  cache: asked[0]?.statement.cache,
  parameters: Object.assign({}, ...asked.map(({ statement }) => statement.parameters)),
  sql: asked.map(rowOf).join('\nUNION ALL\n'),
})

const rowOf = ({ chart, statement }: Asked, index: number): string => {
  const names = chart.columns.map((column) => quoteName(column.name))
  const types = names.map((name) => `toTypeName(${name})`).join(', ')
  return `SELECT ${index} AS chart, any([${types}]) AS types, groupArray(formatRow('JSONCompactEachRow', ${names.join(', ')})) AS lines
FROM (
${statement.sql}
)`
}

const Row = z.tuple([z.coerce.number(), z.array(z.string()), z.array(z.string())])

/** A line that the host wrote as JSON is an array of its cells. */
const readLine = (line: string): unknown[] => z.array(z.unknown()).parse(JSON.parse(line))

/** The answer to each of them, as if it had been asked alone; what it cost is what all of them did. */
const answersOf = <A extends Asked>(host: MonitoredHost, asked: readonly A[], answer: Answer): Map<A, Answer> => {
  const rows = z.array(Row).safeParse(answer.rows)
  if (!rows.success) throw hostFailure(host, 'garbage')
  const byIndex = new Map(rows.data.map(([index, types, lines]) => [index, { types, lines }]))
  const found = asked.map((each, index): [A, Answer] => {
    const { types = [], lines = [] } = byIndex.get(index) ?? {}
    const columns = each.chart.columns.map(({ name }, column) => ({ name, type: types[column] ?? '' }))
    return [each, { ...answer, columns, rows: narrowed(columns, lines.map(readLine)) }]
  })
  return new Map(found)
}
