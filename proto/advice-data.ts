import { z } from 'zod'
import { rpc } from './contract.ts'
import { maxExplainStatementLength } from './explain.ts'
import { hostInput } from './host.ts'

/** Maximum length of a condition in characters. */
const maxConditionLength = 20_000
const Name = z.string().min(1).max(256)
const Condition = z.string().min(1).max(maxConditionLength)
const tableInput = { ...hostInput, database: Name, table: Name }

/** How a condition restricts a column: by values, by a range, by contained text, or otherwise. */
export const ConditionKind = z.enum(['equality', 'range', 'text', 'other'])

/** A condition on the rows of one table. The conditions of a table are combined with AND. */
export const ReadCondition = z.object({
  kind: ConditionKind,
  /** The column that is compared with constants; null if it is a function argument, or if there are several columns. */
  column: z.string().nullable(),
  /** All columns that the condition reads. */
  columns: z.array(z.string()),
  sql: z.string(),
})
export type ReadCondition = z.infer<typeof ReadCondition>

/** A column that a query reads. */
export const ReadColumn = z.object({
  name: z.string(),
  /** The name, quoted as an SQL identifier. */
  sql: z.string(),
})

/** What a query reads from one MergeTree table after pruning by partitions, primary key and skip indexes. */
export const TableRead = z.object({
  database: z.string(),
  table: z.string(),
  /** The name, quoted as an SQL identifier. */
  sql: z.string(),
  parts: z.number(),
  rows: z.number(),
  marks: z.number(),
  isFinal: z.boolean(),
  /** Whether the host applies PREWHERE: it filters rows before it reads all columns. */
  hasPrewhere: z.boolean(),
  columns: z.array(ReadColumn),
  conditions: z.array(ReadCondition),
  /** The grouping columns and aggregates of the query; null unless a single projection could serve the query. */
  grouping: z
    .object({
      keys: z.array(z.string()),
      aggregates: z.array(z.string()),
      /** Whether keys or aggregates contain literals of the query. */
      hasValues: z.boolean(),
    })
    .nullable(),
  /** Whether the outermost SELECT reads only this table. */
  isAlone: z.boolean(),
})
export type TableRead = z.infer<typeof TableRead>

/** Skip indexes that a host can test, in ascending order of cost. */
export const skipIndexTypes = ['minmax', 'set(100)', 'bloom_filter(0.01)', 'ngrambf_v1(4, 4096, 2, 0)'] as const
/** A type of skip index that a host can test. */
export const SkipIndexType = z.enum(skipIndexTypes)
export type SkipIndexType = z.infer<typeof SkipIndexType>

const common = { callers: ['report'], feature: 'QUERIES', safe: true, prefer: 'hostKey' } as const

/** Methods that provide the data for query advice. The host analyzes the queries; no method changes a host. */
export const adviceDataMethods = {
  statementReads: rpc({
    doc: 'Returns what a query reads from each table, as analyzed by the host. Rejects statements that do not only read.',
    ...common,
    input: z.object({ ...hostInput, query: z.string().max(maxExplainStatementLength), database: Name.optional() }),
    output: z.object({
      reads: z.array(TableRead),
      /**
       * Tables without details: not read as a MergeTree table (`engine`), or read more than once (`repeated`).
       */
      others: z.array(z.object({ name: z.string(), reason: z.enum(['engine', 'repeated']) })),
      /** The query formatted by the host with one clause per line; null if the host cannot format it. */
      formatted: z.string().nullable(),
    }),
  }),
  tryIndex: rpc({
    doc: 'Returns what a query with a condition would read with a skip index on one column. The index exists for one session only.',
    ...common,
    input: z.object({ ...tableInput, column: Name, condition: Condition, type: SkipIndexType }),
    output: z.object({
      outcome: z.enum(['tried', 'of-no-use', 'not-possible']),
      /** Marks that the query would still read with the index; null unless the index was tested. */
      marks: z.number().nullable(),
      /** Whether the index was tested on all marks that the query reads now; otherwise `marks` is an estimate. */
      isEmpirical: z.boolean(),
    }),
  }),
  countMatches: rpc({
    doc: 'Counts the rows of a table that match a condition, and the granules with at least one of them. Reads the columns of the condition.',
    ...common,
    input: z.object({ ...tableInput, condition: Condition, rowsPerMark: z.int().min(1) }),
    output: z.object({ rows: z.number(), matchingRows: z.number(), matchingGranules: z.number() }),
  }),
  countGroups: rpc({
    doc: 'Counts the groups of rows of a table, the groups with at least one row that matches a condition, and their rows.',
    ...common,
    input: z.object({ ...tableInput, keys: z.array(Condition).min(1).max(20), condition: Condition.nullable() }),
    output: z.object({ groups: z.number(), matchingGroups: z.number(), matchingRows: z.number() }),
  }),
}
