import type { ColumnCounts, TableFacts } from '../advisor/structure/facts.ts'
import { subjectOf } from './subject.ts'

type Column = TableFacts['columns'][number]

/** Returns a column with 8 MB of data, compressed to 4 MB. */
export const columnOf = (name: string, type: string, more: Partial<Column> = {}): Column => {
  const [any] = subjectOf().columns
  if (!any) throw new Error('the subject has columns')
  return { ...any, name, type, sql: `\`${name}\``, compressedBytes: 4_000_000, uncompressedBytes: 8_000_000, ...more }
}

/** Returns the statistics of a column with 100 distinct values from 0 to 60 and no NULL. */
export const countedOf = (more: Partial<ColumnCounts> = {}): ColumnCounts => ({
  distinct: 100,
  nulls: 0,
  minimum: 0,
  maximum: 60,
  ...more,
})

/** Returns a table of a million rows, all of them sampled. */
export const factsOf = (
  columns: readonly Column[],
  more: Partial<Omit<TableFacts, 'overview'>> & { overview?: Partial<TableFacts['overview']> } = {},
): TableFacts => ({
  name: 'cafe.orders',
  sql: '`cafe`.`orders`',
  columns,
  sampled: 1_000_000,
  counted: new Map(columns.map(({ name }) => [name, countedOf()])),
  oldBytes: 0,
  ...more,
  overview: { ...subjectOf().overview, compressedBytes: 20_000_000, ...more.overview },
})
