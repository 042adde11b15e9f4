import { z } from 'zod'
import { rpc } from './contract.ts'
import { LockSession, MissingPrivilege, PostgresSession, SessionCounts } from './postgres-sessions.ts'
import {
  postgresTableOrders,
  PostgresReplication,
  PostgresStatement,
  PostgresTable,
  postgresStatementOrders,
  StatementsUnavailableReason,
} from './postgres-statistics.ts'

/** Maximum entries of a list of the PostgreSQL source. */
export const maxPostgresEntries = 500
const limit = z.int().min(1).max(maxPostgresEntries).default(100)
const search = z.string().max(256).optional()

/** Attributes of the PostgreSQL server. */
export const PostgresServer = z.object({
  version: z.string(),
  /** The database of the connection, whose tables are listed. */
  database: z.string(),
  /** Epoch milliseconds of the server start. */
  startedMs: z.number(),
  isStandby: z.boolean(),
  limited: MissingPrivilege.nullable(),
})
export type PostgresServer = z.infer<typeof PostgresServer>

/** Whether the source can be queried, and the remedy if not. */
export const PostgresStatus = z.object({
  status: z.enum(['connected', 'auth', 'unreachable', 'not-configured']),
  message: z.string(),
  server: PostgresServer.nullable(),
})
export type PostgresStatus = z.infer<typeof PostgresStatus>

const traits = { callers: ['gateway', 'agent'], safe: true } as const

/**
 * Methods for the PostgreSQL source, a second kind of monitored system. All except `postgresOffered` and
 * `postgresStatus` fail: with `not-implemented` if no source is configured, with `unavailable` or `timeout` if it does
 * not respond. All transactions
 * are read-only.
 */
export const postgresSourceMethods = {
  postgresOffered: rpc({
    ...traits,
    doc: 'Returns whether a PostgreSQL source is configured; queries no server.',
    input: z.object({}),
    output: z.object({ isOffered: z.boolean() }),
  }),
  postgresStatus: rpc({
    ...traits,
    doc: 'Returns whether the PostgreSQL source responds, and its attributes.',
    feature: 'QUERIES',
    input: z.object({}),
    output: PostgresStatus,
  }),
  postgresActivity: rpc({
    ...traits,
    doc: 'Lists sessions of the PostgreSQL source, oldest transactions first.',
    feature: 'QUERIES',
    input: z.object({
      /** Whether to include idle sessions and server processes. */
      all: z.boolean().default(false),
      limit,
      /** Whether statements keep their literals, except secrets; otherwise all literals are removed. */
      withValues: z.boolean().default(false),
    }),
    output: z.object({
      sessions: z.array(PostgresSession),
      truncated: z.boolean(),
      counts: SessionCounts,
      limited: MissingPrivilege.nullable(),
    }),
  }),
  postgresStatements: rpc({
    ...traits,
    doc: 'Lists statement patterns of the PostgreSQL source from pg_stat_statements.',
    feature: 'QUERIES',
    input: z.object({ order: z.enum(postgresStatementOrders).default('total_time'), search, limit }),
    output: z.object({
      statements: z.array(PostgresStatement),
      truncated: z.boolean(),
      /** Epoch milliseconds of the last reset; null before PostgreSQL 14. */
      sinceMs: z.number().nullable(),
      unavailable: StatementsUnavailableReason.nullable(),
      limited: MissingPrivilege.nullable(),
    }),
  }),
  postgresTables: rpc({
    ...traits,
    doc: 'Lists tables of the PostgreSQL source with sizes, reads, writes and maintenance.',
    feature: 'TABLES',
    input: z.object({ order: z.enum(postgresTableOrders).default('size'), search, limit }),
    output: z.object({
      tables: z.array(PostgresTable),
      truncated: z.boolean(),
      database: z.string(),
      /** `estimated`: sizes as of the last vacuum or analyze, because a lock prevents measuring them. */
      sizes: z.enum(['measured', 'estimated']),
    }),
  }),
  postgresReplication: rpc({
    ...traits,
    doc: 'Lists standbys, slots and subscriptions of the PostgreSQL source with their lag.',
    feature: 'CLUSTER',
    input: z.object({}),
    output: z.object({ replication: PostgresReplication, limited: MissingPrivilege.nullable() }),
  }),
  postgresLocks: rpc({
    ...traits,
    doc: 'Lists sessions of the PostgreSQL source that wait for locks and those that block them, the most blocking first.',
    feature: 'QUERIES',
    input: z.object({
      /** Whether statements keep their literals, except secrets; otherwise all literals are removed. */
      withValues: z.boolean().default(false),
    }),
    output: z.object({ sessions: z.array(LockSession), truncated: z.boolean(), limited: MissingPrivilege.nullable() }),
  }),
}
