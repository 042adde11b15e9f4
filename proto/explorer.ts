import { z } from 'zod'
import { ResultColumn, Truncation } from './console.ts'
import { bytes, rpc, stream } from './contract.ts'
import { ofHost, readers } from './host.ts'
import { StatementFacts } from './statement.ts'
import { Unavailable } from './unavailable.ts'

/** Name of a database or of a table in it, whatever characters it has. */
export const ExplorerName = z.string().min(1, 'must not be empty').max(256, 'must not be longer than 256 characters')

/** A database and what is in it; sizes are of what the server itself stores. */
export const ExplorerDatabase = z.object({
  name: z.string(),
  engine: z.string(),
  comment: z.string(),
  uuid: z.string(),
  isSystem: z.boolean(),
  tables: z.number(),
  views: z.number(),
  dictionaries: z.number(),
  rows: z.number(),
  bytes: z.number(),
})

/** What kind of thing a table is. */
export const tableKinds = ['table', 'view', 'materialized-view', 'dictionary'] as const

/** A table of a database; null where its engine does not count. */
export const ExplorerTable = z.object({
  name: z.string(),
  kind: z.enum(tableKinds),
  engine: z.string(),
  comment: z.string(),
  rows: z.number().nullable(),
  bytes: z.number().nullable(),
  /** When its definition changed last, in epoch milliseconds. */
  changedMs: z.number(),
})

/** Keys of a table as ClickHouse writes them; empty where it has none. */
export const TableKeys = z.object({
  engine: z.string(),
  engineFull: z.string(),
  partitionKey: z.string(),
  sortingKey: z.string(),
  primaryKey: z.string(),
  samplingKey: z.string(),
})

/** One table as a whole. Figures of parts are of the active ones, and 0 for engines without parts. */
export const TableOverview = ExplorerTable.extend(TableKeys.shape).extend({
  uuid: z.string(),
  storagePolicy: z.string(),
  parts: z.number(),
  partitions: z.number(),
  compressedBytes: z.number(),
  uncompressedBytes: z.number(),
  bytesOnDisk: z.number(),
  marks: z.number(),
  primaryKeyBytes: z.number(),
  primaryKeyAllocatedBytes: z.number(),
  disks: z.array(z.string()),
  /** When its data changed last; null without parts. */
  modifiedMs: z.number().nullable(),
})

/** A column; sizes are null where parts keep all columns in one file or there are none. */
export const ExplorerColumn = z.object({
  name: z.string(),
  position: z.number(),
  type: z.string(),
  defaultKind: z.string(),
  defaultExpression: z.string(),
  comment: z.string(),
  /** Empty for the default. */
  codec: z.string(),
  compressedBytes: z.number().nullable(),
  uncompressedBytes: z.number().nullable(),
  marksBytes: z.number().nullable(),
  /** Uncompressed over compressed size. */
  ratio: z.number().nullable(),
  isInPartitionKey: z.boolean(),
  isInSortingKey: z.boolean(),
  isInPrimaryKey: z.boolean(),
  isInSamplingKey: z.boolean(),
})

/** A data skipping index. */
export const SkipIndex = z.object({
  name: z.string(),
  type: z.string(),
  typeFull: z.string(),
  expression: z.string(),
  /** Granules of the table that one entry covers. */
  granularity: z.number(),
  compressedBytes: z.number(),
  uncompressedBytes: z.number(),
  marksBytes: z.number(),
})

/** A projection; `definition` and `type` are null on servers that do not tell them. */
export const Projection = z.object({
  name: z.string(),
  type: z.string().nullable(),
  definition: z.string().nullable(),
  parts: z.number(),
  rows: z.number(),
  compressedBytes: z.number(),
  uncompressedBytes: z.number(),
})

/** A part of a table. */
export const ExplorerPart = z.object({
  name: z.string(),
  partition: z.string(),
  active: z.boolean(),
  type: z.string(),
  level: z.number(),
  rows: z.number(),
  compressedBytes: z.number(),
  uncompressedBytes: z.number(),
  bytesOnDisk: z.number(),
  marks: z.number(),
  primaryKeyBytes: z.number(),
  disk: z.string(),
  modifiedMs: z.number(),
})

/** What data flows through; `reference` is an object that has to be there for another. */
export const dependencyKinds = [
  'view',
  'materialized-view',
  'materialized-view-target',
  'dictionary',
  'distributed',
  'merge',
  'buffer',
  'reference',
] as const
/** One of `dependencyKinds`. */
export const DependencyKind = z.enum(dependencyKinds)
export type DependencyKind = z.infer<typeof DependencyKind>

/** An end of a dependency; `engine` is null when the host does not have it, as with tables of other hosts. */
const End = z.object({ database: z.string(), table: z.string(), engine: z.string().nullable() })

/** Data of `from` ends up in `to`, or is read through it. */
export const Dependency = z.object({
  kind: DependencyKind,
  from: End,
  to: End,
  /** Seen from the asked table: what it is made of, or what is made of it; null when a whole database was asked for. */
  direction: z.enum(['upstream', 'downstream']).nullable(),
  /** The cluster of a distributed table; null for all others. */
  cluster: z.string().nullable(),
})
export type Dependency = z.infer<typeof Dependency>

/** Who used a table. Times are epoch milliseconds, null when it did not happen within the window. */
export const TableUser = z.object({
  user: z.string(),
  queries: z.number(),
  reads: z.number(),
  writes: z.number(),
  errors: z.number(),
  queriesLastDay: z.number(),
  totalMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  writtenRows: z.number(),
  lastReadMs: z.number().nullable(),
  lastWriteMs: z.number().nullable(),
})
export type TableUser = z.infer<typeof TableUser>

/** The same of all users together, and each of them, those of most queries first. */
export const TableUsage = TableUser.omit({ user: true }).extend({
  users: z.array(TableUser),
})

/** A query that used a table. */
export const TableQueryRecord = z.object({
  queryId: z.string(),
  user: z.string(),
  kind: z.string(),
  failed: z.boolean(),
  endedMs: z.number(),
  durationMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  writtenRows: z.number(),
  memoryBytes: z.number(),
  /** The statement without its values. */
  query: z.string(),
  fingerprint: z.string(),
})

const listOf = <R extends z.ZodType>(row: R) =>
  z.object({ rows: z.array(row), truncated: z.boolean(), unavailable: Unavailable.nullable() })
const oneOf = <D extends z.ZodType>(detail: D) =>
  z.object({ detail: detail.nullable(), unavailable: Unavailable.nullable() })

const common = { callers: readers, feature: 'TABLES', safe: true, prefer: 'hostKey' } as const
const ofTable = z.object({ ...ofHost, database: ExplorerName, table: ExplorerName })
const lastHours = z.int().min(1).max(8760).default(168)

/** What there is on a host. An unknown database or table is `not-found` with the nearest names. */
export const explorerMethods = {
  exploreDatabases: rpc({
    doc: 'Databases with what is in them.',
    ...common,
    input: z.object(ofHost),
    output: listOf(ExplorerDatabase),
  }),
  exploreTables: rpc({
    doc: 'Tables, views and dictionaries of a database by name.',
    ...common,
    input: z.object({ ...ofHost, database: ExplorerName, search: z.string().max(256).optional() }),
    output: listOf(ExplorerTable),
  }),
  exploreTable: rpc({
    doc: 'One table: engine, keys, size, parts.',
    ...common,
    input: ofTable,
    output: oneOf(TableOverview),
  }),
  exploreColumns: rpc({
    doc: 'Columns of a table in their order, with sizes and codecs.',
    ...common,
    input: ofTable,
    output: listOf(ExplorerColumn),
  }),
  exploreDdl: rpc({
    doc: 'The statement that creates a table, or the database itself when none is named. ClickHouse hides the secrets in it.',
    ...common,
    input: ofTable.partial({ table: true }),
    output: oneOf(z.object({ ddl: z.string() })),
  }),
  exploreSkipIndexes: rpc({
    doc: 'Data skipping indexes of a table.',
    ...common,
    input: ofTable,
    output: listOf(SkipIndex),
  }),
  exploreProjections: rpc({ doc: 'Projections of a table.', ...common, input: ofTable, output: listOf(Projection) }),
  exploreParts: rpc({
    doc: 'Parts of a table, largest first; with `inactive` those too that are only still there.',
    ...common,
    input: ofTable.extend({ inactive: z.boolean().default(false), limit: z.int().min(1).max(10_000).default(1_000) }),
    output: listOf(ExplorerPart),
  }),
  exploreDependencies: rpc({
    doc: 'What a table, over any number of others, or any table of a database is made of and what is made of it: views, materialized views and their targets, dictionaries, distributed, merge and buffer tables.',
    ...common,
    input: ofTable.partial({ table: true }),
    output: listOf(Dependency),
  }),
  exploreUsage: rpc({
    doc: 'Who used a table, how often and when last, as the query log tells.',
    ...common,
    input: ofTable.extend({ lastHours }),
    output: oneOf(TableUsage),
  }),
  exploreQueries: rpc({
    doc: 'The latest queries that used a table, without the values in their text.',
    ...common,
    feature: 'QUERIES',
    input: ofTable.extend({ lastHours, limit: z.int().min(1).max(500).default(100) }),
    output: listOf(TableQueryRecord),
  }),
  previewTable: stream({
    doc: "Some rows of a table, in no order, as the host's own bytes: an array of values on a line for each.",
    ...common,
    callers: ['gateway', 'agent', 'mcp'],
    safe: false,
    input: ofTable.extend({ limit: z.int().min(1).max(1_000).default(100) }),
    head: z.object({ columns: z.array(ResultColumn).nullable() }),
    frames: bytes(),
    tail: z.object({ truncated: Truncation.nullable(), statement: StatementFacts }),
  }),
}
