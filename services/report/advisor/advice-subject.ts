import type { z } from 'zod'
import type { Savings, Recommendation } from '#proto/advice.ts'
import type { ReadCondition, TableRead, SkipIndexType } from '#proto/advice-data.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { ExplorerColumn, Projection, SkipIndex, TableOverview } from '#proto/explorer.ts'
import type { query } from '#proto/query.ts'

type Overview = z.infer<typeof TableOverview>

/** A table that a query reads, with the metadata that advice is based on. */
export interface AdviceSubject {
  read: TableRead
  overview: Overview
  columns: readonly z.infer<typeof ExplorerColumn>[]
  indexes: readonly z.infer<typeof SkipIndex>[]
  projections: readonly z.infer<typeof Projection>[]
  statement: Statement
}

/** The query that reads the table. */
interface Statement {
  /** The query with one clause per line; null if the host cannot format it. */
  formatted: string | null
  /** The default database of the query. */
  database: string | undefined
}

/** Fetches the metadata of a table. If the host does not provide it, returns the reason as a string. */
export const readAdviceSubject = async (
  { query, call, hostKey }: AdviceContext,
  read: TableRead,
  statement: Statement,
): Promise<AdviceSubject | string> => {
  const named = { hostKey, database: read.database, table: read.table }
  const [overview, columns, indexes, projections] = await Promise.all([
    query.exploreTable(named, call),
    query.exploreColumns(named, call),
    query.exploreSkipIndexes(named, call),
    query.exploreProjections(named, call),
  ])
  const closed = overview.unavailable ?? columns.unavailable
  if (closed || !overview.detail) return closed?.message ?? 'not reported by its host'
  return {
    read,
    overview: overview.detail,
    columns: columns.rows,
    indexes: indexes.rows,
    projections: projections.rows,
    statement,
  }
}

/** Returns the rows per granule: `index_granularity`, or the actual average if that is lower, as for large rows. */
export const estimateRowsPerMark = ({ overview }: AdviceSubject): number => {
  const average = Math.max(1, Math.round((overview.rows ?? 0) / Math.max(1, overview.marks)))
  const stated = Number(/\bindex_granularity = (\d+)/.exec(overview.engineFull)?.[1] ?? average)
  return average > 0.9 * stated ? stated : average
}

/**
 * Returns the compressed bytes per granule of the named columns. If the host reports no column sizes, returns those of
 * the whole table. A subcolumn counts as its whole column.
 */
export const estimateBytesPerMark = ({ overview, columns }: AdviceSubject, names: readonly string[]): number => {
  const sizes = names.map((name) => findColumnNamed(columns, name)?.compressedBytes ?? null)
  const known = sizes.every((size) => size === null) ? [overview.compressedBytes] : sizes
  return known.reduce<number>((sum, size) => sum + (size ?? 0), 0) / Math.max(1, overview.marks)
}

/** Returns the column with this name. For a subcolumn such as `payload.size`, returns the column that contains it. */
export const findColumnNamed = <C extends { name: string }>(columns: readonly C[], name: string): C | undefined =>
  columns.find((column) => column.name === name) ?? columns.find((column) => name.startsWith(`${column.name}.`))

/** Returns the savings if the query reads only `marksAfter` marks of its columns. */
export const estimateSavings = (subject: AdviceSubject, marksAfter: number): Savings => {
  const { marks, columns } = subject.read
  const each = estimateBytesPerMark(
    subject,
    columns.map(({ name }) => name),
  )
  const after = Math.min(marks, Math.ceil(marksAfter))
  return {
    marksBefore: marks,
    marksAfter: after,
    bytesBefore: Math.round(marks * each),
    bytesAfter: Math.round(after * each),
  }
}

/** Returns the columns of the sorting key; empty if the key contains an expression. */
export const listSortingColumns = ({ overview: { sortingKey } }: AdviceSubject): string[] =>
  /[(`]/.test(sortingKey) ? [] : sortingKey.split(', ').filter((name) => name !== '')

/** A column that the query compares with constants. */
export interface ComparedColumn {
  name: string
  /** The quoted name. */
  sql: string
  kinds: readonly ReadCondition['kind'][]
  /** All conditions on this column, joined by AND. */
  condition: string
}

/** Returns the compared columns without the first column of the sorting key, which already skips granules. */
export const listComparedColumns = (subject: AdviceSubject): ComparedColumn[] => {
  const { read, columns } = subject
  const [leading] = listSortingColumns(subject)
  return read.columns.flatMap(({ name, sql }) => {
    const conditions = read.conditions.filter(({ column, kind }) => column === name && kind !== 'other')
    // Subcolumns cannot have an index.
    if (conditions.length === 0 || name === leading || !columns.some((column) => column.name === name)) return []
    return [{ name, sql, kinds: conditions.map(({ kind }) => kind), condition: joinConditions(conditions) }]
  })
}

/** Joins conditions by AND. */
export const joinConditions = (conditions: readonly Pick<ReadCondition, 'sql'>[]): string =>
  conditions.map(({ sql }) => sql).join(' AND ')

/** Returns all conditions on a table, joined by AND. */
export const joinAllConditions = ({ read }: AdviceSubject): string => joinConditions(read.conditions)

/** Returns whether merges keep every row. Otherwise, a projection or partition key could change query results. */
export const hasRowPreservingMerges = ({ overview: { engine } }: AdviceSubject): boolean =>
  ['MergeTree', 'ReplicatedMergeTree', 'SharedMergeTree'].includes(engine)

/** The numbers of rows and granules that match a condition. */
interface Matches {
  rows: number
  matchingRows: number
  matchingGranules: number
}

/** The number of groups, in all rows and in the rows that match a condition. */
interface Groups {
  groups: number
  matchingGroups: number
  matchingRows: number
}

/** A test of a proposal on the host. `savings` computes the savings from its result; null if there are none. */
export type ProposalTest =
  | { by: 'index'; column: string; type: SkipIndexType }
  | { by: 'matches'; condition: string; savings: (counted: Matches) => Savings | null }
  | { by: 'groups'; keys: string[]; condition: string | null; savings: (counted: Groups) => Savings | null }

/** A recommendation before its test on the host. */
export interface Proposal extends Omit<Recommendation, 'proof' | 'savings' | 'table'> {
  /** Only the best proposal of each purpose is returned. */
  purpose: string
  test: ProposalTest
}

/** The client, call and host with which the query advisor sends requests. */
export interface AdviceContext {
  query: ServiceClient<typeof query>
  call: CallContext
  hostKey: string
  /** The call for tests that read data, with a shorter deadline; undefined if such tests are not allowed. */
  testCall: CallContext | undefined
}
