import { z } from 'zod'
import { Unavailable } from './unavailable.ts'

/** By what patterns of statements can be ordered; the largest come first. */
export const statementOrders = ['total_time', 'calls', 'mean', 'longest', 'rows', 'read', 'temp', 'wal'] as const

/** A pattern of statements since the statistics were reset, as `pg_stat_statements` counts it. */
export const PostgresStatement = z.object({
  /** As decimal text; the same text by another user or in another database is a pattern of its own. */
  queryId: z.string().nullable(),
  database: z.string().nullable(),
  user: z.string().nullable(),
  /** With placeholders for values, cut to 4,000 characters; null where it may not be seen. */
  query: z.string().nullable(),
  calls: z.number(),
  totalMs: z.number(),
  /** Of the time of all patterns, from 0 to 1; null when there was none. */
  share: z.number().nullable(),
  meanMs: z.number(),
  longestMs: z.number(),
  planningMs: z.number(),
  rows: z.number(),
  /** Of the pages it needed, those that were in the server's own cache, from 0 to 1; null when it needed none. */
  cacheHitShare: z.number().nullable(),
  /** Read from beyond the server's own cache. */
  readBytes: z.number(),
  tempBytes: z.number(),
  walBytes: z.number(),
})
export type PostgresStatement = z.infer<typeof PostgresStatement>

/** Why there are no patterns, with what to do in the order of doing it. */
export const StatementsUnavailable = Unavailable.extend({ steps: z.array(z.string()) })
export type StatementsUnavailable = z.infer<typeof StatementsUnavailable>

/** By what tables can be ordered; the largest come first. */
export const postgresTableOrders = ['size', 'dead_rows', 'sequential_reads', 'writes', 'age'] as const

/** What the server counts of one table of the source's database. Instants as epoch milliseconds, null for never. */
export const PostgresTable = z.object({
  schema: z.string(),
  table: z.string(),
  /** With indexes and what is stored out of line. */
  totalBytes: z.number(),
  indexBytes: z.number(),
  /** The server's own estimates. */
  rows: z.number(),
  deadRows: z.number(),
  sequentialScans: z.number(),
  /** Rows that they read. */
  sequentialRows: z.number(),
  /** Null for a table without an index. */
  indexScans: z.number().nullable(),
  inserted: z.number(),
  updated: z.number(),
  deleted: z.number(),
  /** Of the updates, those that touched no index, from 0 to 1; null when there was none. */
  hotUpdateShare: z.number().nullable(),
  cacheHitShare: z.number().nullable(),
  modifiedSinceAnalyze: z.number(),
  /** By hand or by the server itself, whichever is later. */
  vacuumedMs: z.number().nullable(),
  analyzedMs: z.number().nullable(),
  /** Of the transactions after which the server freezes rows at any price, those that have passed, from 0. */
  freezeShare: z.number(),
})
export type PostgresTable = z.infer<typeof PostgresTable>

/** A standby or subscriber that is sent changes now. Bytes of WAL behind, and milliseconds as far as the server knows them. */
export const PostgresStandby = z.object({
  pid: z.int(),
  user: z.string().nullable(),
  application: z.string().nullable(),
  address: z.string().nullable(),
  state: z.string().nullable(),
  syncState: z.string().nullable(),
  sentLagBytes: z.number().nullable(),
  flushLagBytes: z.number().nullable(),
  replayLagBytes: z.number().nullable(),
  replayLagMs: z.number().nullable(),
})

/** A replication slot, which makes the server keep WAL until its reader has it. */
export const PostgresSlot = z.object({
  name: z.string(),
  type: z.string(),
  plugin: z.string().nullable(),
  database: z.string().nullable(),
  isTemporary: z.boolean(),
  isActive: z.boolean(),
  /** WAL that the server keeps because of it. */
  retainedBytes: z.number().nullable(),
  /** WAL that its reader has not confirmed; of logical slots. */
  unconfirmedBytes: z.number().nullable(),
  /** `reserved`, `extended`, `unreserved` or `lost`. */
  walStatus: z.string().nullable(),
  /** WAL that may still be written before it is lost; null when nothing bounds it. */
  safeBytes: z.number().nullable(),
})

/** What this server itself receives, when it is a standby. */
export const PostgresReceiver = z.object({
  status: z.string().nullable(),
  slot: z.string().nullable(),
  /** Received and not yet replayed. */
  replayLagBytes: z.number().nullable(),
  /** Since the last transaction that was replayed, which grows while the primary is quiet too. */
  lastReplayedAgoMs: z.number().nullable(),
})

/** A subscription of the source's database, with its worker. */
export const PostgresSubscription = z.object({
  name: z.string(),
  isRunning: z.boolean(),
  /** Instants as epoch milliseconds. */
  lastMessageMs: z.number().nullable(),
  lastReportedMs: z.number().nullable(),
})

/** Who copies from this server, and from whom it copies. */
export const PostgresReplication = z.object({
  isStandby: z.boolean(),
  standbys: z.array(PostgresStandby),
  slots: z.array(PostgresSlot),
  receiver: PostgresReceiver.nullable(),
  subscriptions: z.array(PostgresSubscription),
})
export type PostgresReplication = z.infer<typeof PostgresReplication>
