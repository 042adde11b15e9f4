import type { z } from 'zod'
import type { Savings, Recommendation } from '#proto/advice.ts'
import type { ReadCondition, TableRead, SkipIndexType } from '#proto/advising.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { ExplorerColumn, Projection, SkipIndex, TableOverview } from '#proto/explorer.ts'
import type { query } from '#proto/query.ts'

type Overview = z.infer<typeof TableOverview>

/** One table that a statement reads, and what its host tells of it. */
export interface Subject {
  read: TableRead
  overview: Overview
  columns: readonly z.infer<typeof ExplorerColumn>[]
  indexes: readonly z.infer<typeof SkipIndex>[]
  projections: readonly z.infer<typeof Projection>[]
  statement: Statement
}

/** The statement that reads it. */
interface Statement {
  /** Each clause on a line; null when its host cannot lay it out. */
  formatted: string | null
  /** Where names without a database are looked up. */
  database: string | undefined
}

/** Asks for the facts of a table; a sentence when its host cannot tell them. */
export const readSubject = async (
  { query, call, hostKey }: Asking,
  read: TableRead,
  statement: Statement,
): Promise<Subject | string> => {
  const named = { hostKey, database: read.database, table: read.table }
  const [overview, columns, indexes, projections] = await Promise.all([
    query.exploreTable(named, call),
    query.exploreColumns(named, call),
    query.exploreSkipIndexes(named, call),
    query.exploreProjections(named, call),
  ])
  const closed = overview.unavailable ?? columns.unavailable
  if (closed || !overview.detail) return closed?.message ?? 'its host tells nothing of it'
  return {
    read,
    overview: overview.detail,
    columns: columns.rows,
    indexes: indexes.rows,
    projections: projections.rows,
    statement,
  }
}

/** Rows between two marks: as the table says, or fewer where its rows are so long that granules end early. */
export const rowsPerMark = ({ overview }: Subject): number => {
  const average = Math.max(1, Math.round((overview.rows ?? 0) / Math.max(1, overview.marks)))
  const stated = Number(/\bindex_granularity = (\d+)/.exec(overview.engineFull)?.[1] ?? average)
  return average > 0.9 * stated ? stated : average
}

/**
 * Compressed bytes between two marks of some columns; of all when the host keeps no sizes of single columns. A part of a
 * column counts as the whole.
 */
export const bytesPerMark = ({ overview, columns }: Subject, names: readonly string[]): number => {
  const sizes = names.map((name) => columnNamed(columns, name)?.compressedBytes ?? null)
  const known = sizes.every((size) => size === null) ? [overview.compressedBytes] : sizes
  return known.reduce<number>((sum, size) => sum + (size ?? 0), 0) / Math.max(1, overview.marks)
}

/** A column by its name, or the one that a part such as `payload.size` belongs to. */
export const columnNamed = <C extends { name: string }>(columns: readonly C[], name: string): C | undefined =>
  columns.find((column) => column.name === name) ?? columns.find((column) => name.startsWith(`${column.name}.`))

/** What is saved when fewer marks are read of all columns that the statement needs. */
export const savedMarks = (subject: Subject, marksAfter: number): Savings => {
  const { marks, columns } = subject.read
  const each = bytesPerMark(
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

/** Columns of the sorting key; none when there is an expression in it, under which nothing is known of single columns. */
export const sortingColumns = ({ overview: { sortingKey } }: Subject): string[] =>
  /[(`]/.test(sortingKey) ? [] : sortingKey.split(', ').filter((name) => name !== '')

/** A column of the table that conditions compare with constants. */
export interface Compared {
  name: string
  /** Its name as SQL takes it. */
  sql: string
  kinds: readonly ReadCondition['kind'][]
  /** These conditions together. */
  condition: string
}

/** Compared columns, but for the one that leads the order of the table, by which granules are left out already. */
export const comparedColumns = (subject: Subject): Compared[] => {
  const { read, columns } = subject
  const [leading] = sortingColumns(subject)
  return read.columns.flatMap(({ name, sql }) => {
    const conditions = read.conditions.filter(({ column, kind }) => column === name && kind !== 'other')
    // Parts of columns have no index of their own.
    if (conditions.length === 0 || name === leading || !columns.some((column) => column.name === name)) return []
    return [{ name, sql, kinds: conditions.map(({ kind }) => kind), condition: allOf(conditions) }]
  })
}

/** Conditions that must all hold. */
export const allOf = (conditions: readonly Pick<ReadCondition, 'sql'>[]): string =>
  conditions.map(({ sql }) => sql).join(' AND ')

/** All conditions on a table together. */
export const wholeCondition = ({ read }: Subject): string => allOf(read.conditions)

/** Engines that keep each row as it was written, whose tables a projection or a partition key cannot make answer otherwise. */
export const keepsRows = ({ overview: { engine } }: Subject): boolean =>
  ['MergeTree', 'ReplicatedMergeTree', 'SharedMergeTree'].includes(engine)

/** Rows and granules under a condition. */
interface Matches {
  rows: number
  matchingRows: number
  matchingGranules: number
}

/** Groups of rows, and those that a condition touches. */
interface Groups {
  groups: number
  matchingGroups: number
  matchingRows: number
}

/** How a host can tell what a change would save. What is computed from counts is null when it would save nothing. */
export type Test =
  | { by: 'index'; column: string; type: SkipIndexType }
  | { by: 'matches'; condition: string; savings: (counted: Matches) => Savings | null }
  | { by: 'groups'; keys: string[]; condition: string | null; savings: (counted: Groups) => Savings | null }

/** A change that may save something, before anything was tried out. */
export interface Proposal extends Omit<Recommendation, 'proof' | 'savings' | 'table'> {
  /** Of proposals with one purpose the best is told. */
  purpose: string
  test: Test
}

/** Whom advice asks, for whom, and about which host. */
export interface Asking {
  query: Client<typeof query>
  call: Call
  hostKey: string
  /** The same call with less time, for trying out on data what is advised; undefined when that is not allowed. */
  trying: Call | undefined
}
