import type { ColumnStatistics, TableFacts } from '../advisor/structure/table-facts.ts'
import { createAdviceSubject } from './subject.ts'

type Column = TableFacts['columns'][number]

/** Returns a column with 8 MB of uncompressed data and 4 MB of compressed data. */
export const createColumn = (name: string, type: string, more: Partial<Column> = {}): Column => {
  const [any] = createAdviceSubject().columns
  if (!any) throw new Error('invalid test data: the subject has no columns')
  return { ...any, name, type, sql: `\`${name}\``, compressedBytes: 4_000_000, uncompressedBytes: 8_000_000, ...more }
}

/** Returns the statistics of a column with 100 distinct values from 0 to 60 and no NULL. */
export const createColumnCounts = (more: Partial<ColumnStatistics> = {}): ColumnStatistics => ({
  distinct: 100,
  nulls: 0,
  minimum: 0,
  maximum: 60,
  ...more,
})

/** Returns a table of a million rows, all of them sampled. */
export const createTableFacts = (
  columns: readonly Column[],
  more: Partial<Omit<TableFacts, 'overview'>> & { overview?: Partial<TableFacts['overview']> } = {},
): TableFacts => ({
  name: 'cafe.orders',
  sql: '`cafe`.`orders`',
  columns,
  sampled: 1_000_000,
  counted: new Map(columns.map(({ name }) => [name, createColumnCounts()])),
  oldBytes: 0,
  ...more,
  overview: { ...createAdviceSubject().overview, compressedBytes: 20_000_000, ...more.overview },
})
