import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ExplorerColumn, TableOverview } from '#proto/explorer.ts'
import type { query } from '#proto/query.ts'
import type { StructureAdvice } from '#proto/structure-advice.ts'
import { quoteName } from '#shared/sql/quote.ts'

type Column = z.infer<typeof ExplorerColumn>

/** What was counted of a column over the rows that were looked at. */
export interface Counted {
  distinct: number
  nulls: number
  minimum: number | null
  maximum: number | null
}

/** One table as its host tells of it. */
export interface TableFacts {
  /** Its name as people write it, and as SQL takes it. */
  name: string
  sql: string
  overview: z.infer<typeof TableOverview>
  columns: readonly (Column & { sql: string })[]
  /** Rows that were looked at; 0 where none may be. */
  sampled: number
  counted: ReadonlyMap<string, Counted>
  oldBytes: number
}

/** Advice before its host measured anything. */
export type Kind = (facts: TableFacts) => StructureAdvice[]

/** Whom to ask about which table. */
export interface Asking {
  query: Client<typeof query>
  call: Call
  hostKey: string
  database: string
  table: string
  /** Whether the data may be read. */
  readsData: boolean
}

const ofServer = new Set(['system', 'INFORMATION_SCHEMA', 'information_schema'])
/** Columns that are looked at: those that take the most. */
const mostColumns = 40

/** Asks a host for all that advice on a table rests on; a sentence where it cannot tell. */
export const readTable = async (asking: Asking): Promise<TableFacts | string> => {
  const { query, call, hostKey, database, table } = asking
  if (ofServer.has(database)) return 'it is a table of the server itself'
  const named = { hostKey, database, table }
  const [overview, columns] = await Promise.all([query.exploreTable(named, call), query.exploreColumns(named, call)])
  const closed = overview.unavailable ?? columns.unavailable
  if (closed || !overview.detail) return closed?.message ?? 'its host tells nothing of it'
  if (!overview.detail.engine.endsWith('MergeTree')) return 'it is no MergeTree table'
  const largest = columns.rows
    .toSorted((one, other) => (other.compressedBytes ?? 0) - (one.compressedBytes ?? 0))
    .slice(0, mostColumns)
  const counted = await countColumns(asking, largest)
  return {
    name: `${database}.${table}`,
    sql: `${quoteName(database)}.${quoteName(table)}`,
    overview: overview.detail,
    columns: largest.map((column) => ({ ...column, sql: quoteName(column.name) })),
    ...counted,
    oldBytes: (await query.oldParts(named, call)).oldBytes,
  }
}

/** Types of which every value can be counted and, of numbers, bounded. */
const countable =
  /^(Nullable\()?(LowCardinality\()?(Nullable\()?(U?Int(8|16|32|64)|Float(32|64)|String|FixedString|Date|DateTime|UUID|Enum)/
const bounded = /^(Nullable\()?U?Int(16|32|64)\b/

const countColumns = async (
  { query, call, hostKey, database, table, readsData }: Asking,
  columns: readonly Column[],
): Promise<Pick<TableFacts, 'sampled' | 'counted'>> => {
  const asked = columns
    .filter(({ type, defaultKind }) => countable.test(type) && defaultKind !== 'ALIAS')
    .map(({ name, type }) => ({ name, hasBounds: bounded.test(type) }))
  const nothing = { sampled: 0, counted: new Map<string, Counted>() }
  if (!readsData || asked.length === 0) return nothing
  try {
    const { rows, columns: told } = await query.columnFacts({ hostKey, database, table, columns: asked }, call)
    return { sampled: rows, counted: new Map(told.map(({ name, ...counts }) => [name, counts])) }
  } catch (error) {
    // A host that refuses or gives up leaves what needs no counting.
    if (!isRefusal(error)) throw error
    return nothing
  }
}

/** Whether a host answered that it does not do what was asked; one that did not answer at all has refused nothing. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code !== 'unavailable' || error.details?.clickhouseCode !== undefined)
