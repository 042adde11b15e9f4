import { z } from 'zod'
import { mostSampledRows } from '#proto/structure-advice.ts'
import { quoteName } from '#shared/quote.ts'
import { limits, maxSeconds } from '../advice/limits.ts'
import { columnSql } from '../advice/expression-sql.ts'
import { figure, readRecords } from '../analysis/records.ts'
import type { Asking } from '../explorer/read-view.ts'

interface Asked {
  database: string
  table: string
  columns: readonly { name: string; hasBounds: boolean }[]
}

const bound = z.number().nullable()
const Row = z.object({
  rows: figure,
  distinct: z.array(figure),
  nulls: z.array(figure),
  minimums: z.array(bound),
  maximums: z.array(bound),
})

/** Looks at columns over the first rows of a table, in one statement. */
export const columnFacts = async ({ parts, host, call }: Asking, { database, table, columns }: Asked) => {
  const names = columns.map(({ name }) => columnSql(name))
  const each = (aggregate: (column: string) => string): string => `[${names.map(aggregate).join(', ')}]`
  const bounds = (aggregate: string): string =>
    `[${columns.map(({ hasBounds }, index) => (hasBounds ? `toFloat64(${aggregate}(${names[index]}))` : 'NULL')).join(', ')}]::Array(Nullable(Float64))`
  const sql = `SELECT count() AS rows,
  ${each((column) => `uniqCombined(${column})`)} AS distinct,
  ${each((column) => `countIf(isNull(${column}))`)} AS nulls,
  ${bounds('min')} AS minimums,
  ${bounds('max')} AS maximums
FROM (SELECT ${names.join(', ')} FROM ${quoteName(database)}.${quoteName(table)} LIMIT ${mostSampledRows})`
  const statement = { what: 'advice/columns', sql, limits, maxSeconds }
  const [row] = readRecords(host, Row, await parts.client.run(host, statement, call))
  return {
    rows: row?.rows ?? 0,
    columns: columns.map(({ name }, index) => ({
      name,
      distinct: row?.distinct[index] ?? 0,
      nulls: row?.nulls[index] ?? 0,
      minimum: row?.minimums[index] ?? null,
      maximum: row?.maximums[index] ?? null,
    })),
  }
}
