import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ExplorerColumn, TableOverview } from '#proto/explorer.ts'
import type { query } from '#proto/query.ts'
import type { StructureAdvice } from '#proto/structure-advice.ts'
import { quoteName } from '#shared/sql/statement-text.ts'

type Column = z.infer<typeof ExplorerColumn>

/** Statistics about the values of a column in the sampled rows. */
export interface ColumnStatistics {
  distinct: number
  nulls: number
  minimum: number | null
  maximum: number | null
}

/** Metadata and statistics of a table. */
export interface TableFacts {
  name: string
  /** The quoted name. */
  sql: string
  overview: z.infer<typeof TableOverview>
  columns: readonly (Column & { sql: string })[]
  /** The number of sampled rows; 0 if reading data is not allowed. */
  sampled: number
  counted: ReadonlyMap<string, ColumnStatistics>
  oldBytes: number
}

/** Returns one kind of advice on a table. It is a pure function of the facts about the table. */
export type TableAdvisor = (facts: TableFacts) => StructureAdvice[]

/** The table to analyze, and the client and call for its queries. */
export interface TableAdviceContext {
  query: ServiceClient<typeof query>
  call: CallContext
  hostKey: string
  database: string
  table: string
  /** Whether reading data is allowed. */
  readsData: boolean
}

const systemDatabases = new Set(['system', 'INFORMATION_SCHEMA', 'information_schema'])
/** Maximum number of columns to analyze, largest first. */
const maxColumns = 40

/** Fetches metadata and statistics of a table. Returns the reason as a string if the host does not provide them. */
export const readTableFacts = async (context: TableAdviceContext): Promise<TableFacts | string> => {
  const { query, call, hostKey, database, table } = context
  if (systemDatabases.has(database)) return 'it is a system table'
  const named = { hostKey, database, table }
  const [overview, columns] = await Promise.all([query.exploreTable(named, call), query.exploreColumns(named, call)])
  const closed = overview.unavailable ?? columns.unavailable
  if (closed || !overview.detail) return closed?.message ?? 'not reported by its host'
  if (!overview.detail.engine.endsWith('MergeTree')) return 'it is not a MergeTree table'
  const largest = columns.rows
    .toSorted((one, other) => (other.compressedBytes ?? 0) - (one.compressedBytes ?? 0))
    .slice(0, maxColumns)
  const counted = await countColumns(context, largest)
  return {
    name: `${database}.${table}`,
    sql: `${quoteName(database)}.${quoteName(table)}`,
    overview: overview.detail,
    columns: largest.map((column) => ({ ...column, sql: quoteName(column.name) })),
    ...counted,
    oldBytes: (await query.oldParts(named, call)).oldBytes,
  }
}

/** Matches the types whose distinct values are counted. `bounded` matches those whose minimum and maximum are read. */
const countableType =
  /^(Nullable\()?(LowCardinality\()?(Nullable\()?(U?Int(8|16|32|64)|Float(32|64)|String|FixedString|Date|DateTime|UUID|Enum)/
const boundedType = /^(Nullable\()?U?Int(16|32|64)\b/

const countColumns = async (
  { query, call, hostKey, database, table, readsData }: TableAdviceContext,
  columns: readonly Column[],
): Promise<Pick<TableFacts, 'sampled' | 'counted'>> => {
  const requested = columns
    .filter(({ type, defaultKind }) => countableType.test(type) && defaultKind !== 'ALIAS')
    .map(({ name, type }) => ({ name, hasBounds: boundedType.test(type) }))
  const nothing = { sampled: 0, counted: new Map<string, ColumnStatistics>() }
  if (!readsData || requested.length === 0) return nothing
  try {
    const response = await query.columnFacts({ hostKey, database, table, columns: requested }, call)
    return { sampled: response.rows, counted: new Map(response.columns.map(({ name, ...counts }) => [name, counts])) }
  } catch (error) {
    // If the host rejects or aborts the query, advice that needs no statistics is still possible.
    if (!isHostError(error)) throw error
    return nothing
  }
}

/** Returns whether the host responded with the error. Returns false if the host was unreachable. */
export const isHostError = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code !== 'unavailable' || error.details?.clickhouseCode !== undefined)
