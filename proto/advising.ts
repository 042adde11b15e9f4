import { z } from 'zod'
import { rpc } from './contract.ts'
import { longestExplained } from './explain.ts'
import { ofHost } from './host.ts'

/** Longest condition that is measured, in characters. */
const longestCondition = 20_000
const Name = z.string().min(1).max(256)
const Condition = z.string().min(1).max(longestCondition)
const ofTable = { ...ofHost, database: Name, table: Name }

/** How a condition bounds a column: by values, by a range, by text within it, or otherwise. */
export const ConditionKind = z.enum(['equality', 'range', 'text', 'other'])

/** One of the conditions that must all hold for the rows of one table. */
export const ReadCondition = z.object({
  kind: ConditionKind,
  /** The column itself that is compared with constants; null when it is within a function, or there are several. */
  column: z.string().nullable(),
  /** All columns in it. */
  columns: z.array(z.string()),
  sql: z.string(),
})
export type ReadCondition = z.infer<typeof ReadCondition>

/** A column that a statement reads. */
export const ReadColumn = z.object({
  name: z.string(),
  /** Its name as SQL takes it. */
  sql: z.string(),
})

/** What a statement reads of one MergeTree table after partitions, primary key and skip indexes have left out what they can. */
export const TableRead = z.object({
  database: z.string(),
  table: z.string(),
  /** Its name as SQL takes it. */
  sql: z.string(),
  parts: z.number(),
  rows: z.number(),
  marks: z.number(),
  isFinal: z.boolean(),
  /** Whether the host filters rows before it reads all columns. */
  hasPrewhere: z.boolean(),
  columns: z.array(ReadColumn),
  conditions: z.array(ReadCondition),
  /** What rows are grouped by and what is told of each group; null unless one projection could answer it. */
  grouping: z
    .object({
      keys: z.array(z.string()),
      aggregates: z.array(z.string()),
      /** Whether values that the statement gives are in them. */
      hasValues: z.boolean(),
    })
    .nullable(),
  /** Whether the outermost SELECT reads this table and nothing else. */
  isAlone: z.boolean(),
})
export type TableRead = z.infer<typeof TableRead>

/** Skip indexes that a host can try out, those of the least cost first. */
export const skipIndexTypes = ['minmax', 'set(100)', 'bloom_filter(0.01)', 'ngrambf_v1(4, 4096, 2, 0)'] as const
/** One of `skipIndexTypes`. */
export const SkipIndexType = z.enum(skipIndexTypes)
export type SkipIndexType = z.infer<typeof SkipIndexType>

const common = { callers: ['report'], feature: 'QUERIES', safe: true, prefer: 'hostKey' } as const

/** What advice is made of. The host analyses statements; nothing of it changes a host. */
export const advisingMethods = {
  statementReads: rpc({
    doc: 'What a statement reads, table by table, as the host itself analyses it. It is refused unless it only reads.',
    ...common,
    input: z.object({ ...ofHost, query: z.string().max(longestExplained), database: Name.optional() }),
    output: z.object({
      reads: z.array(TableRead),
      /** What else it reads: by other engines or without reading, or more than once, so that nothing is known of each time. */
      others: z.array(z.object({ name: z.string(), reason: z.enum(['engine', 'repeated']) })),
      /** The statement as the host lays it out, each clause on a line; null when it cannot. */
      formatted: z.string().nullable(),
    }),
  }),
  tryIndex: rpc({
    doc: 'What a skip index on one column would leave to be read under a condition. It exists for one session only.',
    ...common,
    input: z.object({ ...ofTable, column: Name, condition: Condition, type: SkipIndexType }),
    output: z.object({
      outcome: z.enum(['tried', 'of-no-use', 'not-possible']),
      /** Of those that are read now; null unless it was tried. */
      marks: z.number().nullable(),
      /** Tried out on all that is read now; otherwise the host guesses. */
      isEmpirical: z.boolean(),
    }),
  }),
  countMatches: rpc({
    doc: 'Rows of a table under a condition, and how many granules have at least one of them. It reads the columns of the condition.',
    ...common,
    input: z.object({ ...ofTable, condition: Condition, rowsPerMark: z.int().min(1) }),
    output: z.object({ rows: z.number(), matchingRows: z.number(), matchingGranules: z.number() }),
  }),
  countGroups: rpc({
    doc: 'Groups of the rows of a table, and of those with at least one row under a condition how many there are and how large.',
    ...common,
    input: z.object({ ...ofTable, keys: z.array(Condition).min(1).max(20), condition: Condition.nullable() }),
    output: z.object({ groups: z.number(), matchingGroups: z.number(), matchingRows: z.number() }),
  }),
}
