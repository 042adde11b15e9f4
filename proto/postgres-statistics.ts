import { z } from 'zod'
import { UnavailableReason } from './unavailable-reason.ts'

/** Sort orders of statement patterns, all descending. */
export const postgresStatementOrders = [
  'total_time',
  'calls',
  'mean',
  'longest',
  'rows',
  'read',
  'temp',
  'wal',
] as const

/** A statement pattern of `pg_stat_statements` since the last reset. */
export const PostgresStatement = z.object({
  /** The query id as decimal text. Equal ids of different users or databases are separate patterns. */
  queryId: z.string().nullable(),
  database: z.string().nullable(),
  user: z.string().nullable(),
  /** The statement with placeholders for values, cut to 4,000 characters; null without access. */
  query: z.string().nullable(),
  calls: z.number(),
  totalMs: z.number(),
  /** Share of the time of all patterns, from 0 to 1; null if there was none. */
  share: z.number().nullable(),
  meanMs: z.number(),
  longestMs: z.number(),
  planningMs: z.number(),
  rows: z.number(),
  /** Share of its pages found in shared buffers, from 0 to 1; null if it read none. */
  cacheHitShare: z.number().nullable(),
  /** Bytes read from outside shared buffers. */
  readBytes: z.number(),
  tempBytes: z.number(),
  walBytes: z.number(),
})
export type PostgresStatement = z.infer<typeof PostgresStatement>

/** Why there are no statement patterns, with the steps to enable them. */
export const StatementsUnavailableReason = UnavailableReason.extend({ steps: z.array(z.string()) })
export type StatementsUnavailableReason = z.infer<typeof StatementsUnavailableReason>

/** Sort orders of tables, all descending. */
export const postgresTableOrders = ['size', 'dead_rows', 'sequential_reads', 'writes', 'age'] as const

/** Statistics of a table of the PostgreSQL source. Instants are epoch milliseconds; null means never. */
export const PostgresTable = z.object({
  schema: z.string(),
  table: z.string(),
  /** Size of the table including indexes and TOAST. */
  totalBytes: z.number(),
  indexBytes: z.number(),
  /** Live and dead rows, as estimated by the server. */
  rows: z.number(),
  deadRows: z.number(),
  sequentialScans: z.number(),
  /** Rows read by sequential scans. */
  sequentialRows: z.number(),
  /** Number of index scans; null for a table without an index. */
  indexScans: z.number().nullable(),
  inserted: z.number(),
  updated: z.number(),
  deleted: z.number(),
  /** Share of HOT updates, from 0 to 1; null without updates. */
  hotUpdateShare: z.number().nullable(),
  cacheHitShare: z.number().nullable(),
  modifiedSinceAnalyze: z.number(),
  /** The last manual or automatic vacuum. */
  vacuumedMs: z.number().nullable(),
  analyzedMs: z.number().nullable(),
  /** Transaction age divided by `autovacuum_freeze_max_age`; at 1 the server forces a freeze. */
  freezeShare: z.number(),
})
export type PostgresTable = z.infer<typeof PostgresTable>

/** A connected standby or subscriber. Lag is in WAL bytes, and in milliseconds if the server reports it. */
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

/** A replication slot, for which the server retains WAL until its consumer has received it. */
export const PostgresSlot = z.object({
  name: z.string(),
  type: z.string(),
  plugin: z.string().nullable(),
  database: z.string().nullable(),
  isTemporary: z.boolean(),
  isActive: z.boolean(),
  /** Bytes of WAL that the server retains for the slot. */
  retainedBytes: z.number().nullable(),
  /** Bytes of WAL that the consumer has not confirmed; only for logical slots. */
  unconfirmedBytes: z.number().nullable(),
  /** `reserved`, `extended`, `unreserved` or `lost`. */
  walStatus: z.string().nullable(),
  /** Bytes of WAL that can be written before the slot is lost; null without a limit. */
  safeBytes: z.number().nullable(),
})

/** The WAL receiver of a standby. */
export const PostgresWalReceiver = z.object({
  status: z.string().nullable(),
  slot: z.string().nullable(),
  /** Bytes of WAL that are received but not yet replayed. */
  replayLagBytes: z.number().nullable(),
  /** Time since the last replayed transaction. It also grows while the primary is idle. */
  lastReplayedAgoMs: z.number().nullable(),
})

/** A subscription of the source with its worker. */
export const PostgresSubscription = z.object({
  name: z.string(),
  isRunning: z.boolean(),
  /** Epoch milliseconds of the last received message, and of the last position reported to the publisher. */
  lastMessageMs: z.number().nullable(),
  lastReportedMs: z.number().nullable(),
})

/** Replication from and to this server. */
export const PostgresReplication = z.object({
  isStandby: z.boolean(),
  standbys: z.array(PostgresStandby),
  slots: z.array(PostgresSlot),
  receiver: PostgresWalReceiver.nullable(),
  subscriptions: z.array(PostgresSubscription),
})
export type PostgresReplication = z.infer<typeof PostgresReplication>
