import { z } from 'zod'
import { maxHours } from './time-limits.ts'
import { ResultColumn, Truncation } from './console.ts'
import { declareByteFrames, rpc, stream } from './contract.ts'
import { hostInput, hostDataReaders } from './host.ts'
import { StatementExecution } from './statement.ts'
import { IncompleteReason, UnavailableReason } from './unavailable-reason.ts'

/** Name of a database or table. Any characters are allowed. */
export const ExplorerName = z.string().min(1, 'must not be empty').max(256, 'must not be longer than 256 characters')

/** A database and its contents. `rows` and `bytes` count only data that the server itself stores. */
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

/** Kinds of tables. */
export const tableKinds = ['table', 'view', 'materialized-view', 'dictionary'] as const

/** A table of a database. Values are null if the engine does not report them. */
export const ExplorerTable = z.object({
  name: z.string(),
  kind: z.enum(tableKinds),
  engine: z.string(),
  comment: z.string(),
  rows: z.number().nullable(),
  bytes: z.number().nullable(),
  /** When the definition of the table last changed, in epoch milliseconds. */
  changedMs: z.number(),
})

/** Engine and keys of a table as ClickHouse expressions. The expression of a key that the table lacks is empty. */
export const TableKeys = z.object({
  engine: z.string(),
  engineFull: z.string(),
  partitionKey: z.string(),
  sortingKey: z.string(),
  primaryKey: z.string(),
  samplingKey: z.string(),
})

/** A table with its details. Numbers of parts count active parts, and are 0 for engines without parts. */
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
  /** When the data of the table last changed, in epoch milliseconds; null without parts. */
  modifiedMs: z.number().nullable(),
})

/** A column. Sizes are null without parts, and for compact parts, which store all columns in one file. */
export const ExplorerColumn = z.object({
  name: z.string(),
  position: z.number(),
  type: z.string(),
  defaultKind: z.string(),
  defaultExpression: z.string(),
  comment: z.string(),
  /** The codec expression; empty for the default codec. */
  codec: z.string(),
  compressedBytes: z.number().nullable(),
  uncompressedBytes: z.number().nullable(),
  marksBytes: z.number().nullable(),
  /** Compression ratio: the uncompressed size divided by the compressed size. */
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

/** A projection; `definition` and `type` are null on servers that do not report them. */
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

/** Kinds of dependencies. `reference` is an object that another one requires. */
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
/** The kind of a dependency between two tables. */
export const DependencyKind = z.enum(dependencyKinds)
export type DependencyKind = z.infer<typeof DependencyKind>

/** One of the two tables of a dependency. `engine` is null if the table is not on this host. */
const DependencyEnd = z.object({ database: z.string(), table: z.string(), engine: z.string().nullable() })

/** A dependency: data of `from` is written to `to`, or read through it. */
export const TableDependency = z.object({
  kind: DependencyKind,
  from: DependencyEnd,
  to: DependencyEnd,
  /** The direction relative to the requested table; null if a whole database was requested. */
  direction: z.enum(['upstream', 'downstream']).nullable(),
  /** The cluster of a distributed table; null for all others. */
  cluster: z.string().nullable(),
})
export type TableDependency = z.infer<typeof TableDependency>

/**
 * The usage of a table by one user. The last read and write are epoch milliseconds, null if there was none within the
 * window.
 */
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

/** The usage of a table in total and by user, most queries first. */
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
  /** The query with placeholders for its values. */
  query: z.string(),
  fingerprint: z.string(),
})

const createListSchema = <R extends z.ZodType>(row: R) =>
  z.object({
    rows: z.array(row),
    truncated: z.boolean(),
    unavailable: UnavailableReason.nullable(),
    /** Why rows may be missing; null if the result is complete. */
    incomplete: IncompleteReason.nullable().default(null),
  })
const createDetailSchema = <D extends z.ZodType>(detail: D) =>
  z.object({ detail: detail.nullable(), unavailable: UnavailableReason.nullable() })

const common = { callers: hostDataReaders, feature: 'TABLES', safe: true, prefer: 'hostKey' } as const
const tableInput = z.object({ ...hostInput, database: ExplorerName, table: ExplorerName })
const lastHours = z.int().min(1).max(maxHours).default(168)

/**
 * Methods that browse databases and tables of a host. For an unknown name they fail with `not-found` and suggest the
 * nearest names.
 */
export const explorerMethods = {
  exploreDatabases: rpc({
    doc: 'Lists databases with the number of their tables and their sizes.',
    ...common,
    input: z.object(hostInput),
    output: createListSchema(ExplorerDatabase),
  }),
  exploreTables: rpc({
    doc: 'Lists tables, views and dictionaries of a database by name.',
    ...common,
    input: z.object({ ...hostInput, database: ExplorerName, search: z.string().max(256).optional() }),
    output: createListSchema(ExplorerTable),
  }),
  exploreTable: rpc({
    doc: 'Returns engine, keys, size and parts of a table.',
    ...common,
    input: tableInput,
    output: createDetailSchema(TableOverview),
  }),
  exploreColumns: rpc({
    doc: 'Lists columns of a table in order, with sizes and codecs.',
    ...common,
    input: tableInput,
    output: createListSchema(ExplorerColumn),
  }),
  exploreDdl: rpc({
    doc: 'Returns the CREATE statement of a table, or of the database if no table is specified. ClickHouse hides its secrets.',
    ...common,
    input: tableInput.partial({ table: true }),
    output: createDetailSchema(z.object({ ddl: z.string() })),
  }),
  exploreSkipIndexes: rpc({
    doc: 'Lists data skipping indexes of a table.',
    ...common,
    input: tableInput,
    output: createListSchema(SkipIndex),
  }),
  exploreProjections: rpc({
    doc: 'Lists projections of a table.',
    ...common,
    input: tableInput,
    output: createListSchema(Projection),
  }),
  exploreParts: rpc({
    doc: 'Lists parts of a table, largest first; with `inactive` also inactive ones.',
    ...common,
    input: tableInput.extend({
      inactive: z.boolean().default(false),
      limit: z.int().min(1).max(10_000).default(1_000),
    }),
    output: createListSchema(ExplorerPart),
  }),
  exploreDependencies: rpc({
    doc: 'Lists direct and indirect dependencies of a table or of all tables of a database: views, materialized views and their targets, dictionaries, distributed, merge and buffer tables.',
    ...common,
    input: tableInput.partial({ table: true }),
    output: createListSchema(TableDependency),
  }),
  exploreUsage: rpc({
    doc: 'Returns the usage of a table by user from the query log.',
    ...common,
    input: tableInput.extend({ lastHours }),
    output: createDetailSchema(TableUsage),
  }),
  exploreQueries: rpc({
    doc: 'Lists the latest queries of a table, with placeholders for values.',
    ...common,
    feature: 'QUERIES',
    input: tableInput.extend({ lastHours, limit: z.int().min(1).max(500).default(100) }),
    output: createListSchema(TableQueryRecord),
  }),
  previewTable: stream({
    doc: 'Streams some rows of a table in no particular order: one line per row with an array of values.',
    ...common,
    callers: ['gateway', 'agent', 'mcp'],
    safe: false,
    input: tableInput.extend({ limit: z.int().min(1).max(1_000).default(100) }),
    head: z.object({ columns: z.array(ResultColumn).nullable() }),
    frames: declareByteFrames(),
    tail: z.object({ truncated: Truncation.nullable(), statement: StatementExecution }),
  }),
}
