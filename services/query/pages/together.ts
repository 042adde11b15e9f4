import { z } from 'zod'
import { quoteName } from '#shared/sql/quote.ts'
import { narrowed } from '../clickhouse/answer.ts'
import type { Answer } from '../clickhouse/client.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { LoadedChart } from '../definitions/load.ts'

interface Asked {
  chart: LoadedChart
  statement: Statement
}

/** Charts that take longer together are asked one by one, so that a slow one costs the others no more than this. */
const maxSeconds = 15

/** One statement for charts of one cache class whose parameters agree: a row for each, its own rows as JSON text. */
export const togetherStatement = (asked: readonly Asked[]): Statement => ({
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
export const answersOf = <A extends Asked>(
  host: MonitoredHost,
  asked: readonly A[],
  answer: Answer,
): Map<A, Answer> => {
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
