import { z } from 'zod'
import { rpc } from './contract.ts'
import { LockSession, Limited, PostgresSession, SessionCounts } from './postgres-sessions.ts'
import {
  postgresTableOrders,
  PostgresReplication,
  PostgresStatement,
  PostgresTable,
  statementOrders,
  StatementsUnavailable,
} from './postgres-statistics.ts'

/** Most entries of one list about the PostgreSQL source. */
export const maxPostgresEntries = 500
const limit = z.int().min(1).max(maxPostgresEntries).default(100)
const search = z.string().max(256).optional()

/** What the server says of itself. */
export const PostgresServer = z.object({
  version: z.string(),
  /** The database that the source is connected to, whose tables are told. */
  database: z.string(),
  /** Epoch milliseconds. */
  startedMs: z.number(),
  isStandby: z.boolean(),
  limited: Limited.nullable(),
})
export type PostgresServer = z.infer<typeof PostgresServer>

/** Whether the source can be asked, and what to do where it cannot. */
export const PostgresStatus = z.object({
  status: z.enum(['connected', 'auth', 'unreachable', 'not-configured']),
  message: z.string(),
  server: PostgresServer.nullable(),
})
export type PostgresStatus = z.infer<typeof PostgresStatus>

const traits = { callers: ['gateway', 'agent'], safe: true } as const

/**
 * Methods about the PostgreSQL source, a second kind of monitored system. All but the first two fail with `not-implemented` where
 * none is set up, and with `unavailable` or `timeout` where it does not answer; everything is read in transactions that only read.
 */
export const postgresSourceMethods = {
  postgresOffered: rpc({
    ...traits,
    doc: 'Whether a PostgreSQL source is set up; asks nobody.',
    input: z.object({}),
    output: z.object({ isOffered: z.boolean() }),
  }),
  postgresStatus: rpc({
    ...traits,
    doc: 'Whether the PostgreSQL source answers, and what it says of itself.',
    feature: 'QUERIES',
    input: z.object({}),
    output: PostgresStatus,
  }),
  postgresActivity: rpc({
    ...traits,
    doc: 'Sessions of the PostgreSQL source, those with the oldest transactions first.',
    feature: 'QUERIES',
    input: z.object({
      /** Idle sessions and processes of the server itself too. */
      all: z.boolean().default(false),
      limit,
      /** Statements with the values in them. */
      withValues: z.boolean().default(false),
    }),
    output: z.object({
      sessions: z.array(PostgresSession),
      truncated: z.boolean(),
      counts: SessionCounts,
      limited: Limited.nullable(),
    }),
  }),
  postgresStatements: rpc({
    ...traits,
    doc: 'Patterns of statements of the PostgreSQL source, from pg_stat_statements.',
    feature: 'QUERIES',
    input: z.object({ order: z.enum(statementOrders).default('total_time'), search, limit }),
    output: z.object({
      statements: z.array(PostgresStatement),
      truncated: z.boolean(),
      /** Epoch milliseconds since which is counted; null before PostgreSQL 14. */
      sinceMs: z.number().nullable(),
      unavailable: StatementsUnavailable.nullable(),
      limited: Limited.nullable(),
    }),
  }),
  postgresTables: rpc({
    ...traits,
    doc: "Tables of the PostgreSQL source's database with sizes, reads, writes and upkeep.",
    feature: 'TABLES',
    input: z.object({ order: z.enum(postgresTableOrders).default('size'), search, limit }),
    output: z.object({
      tables: z.array(PostgresTable),
      truncated: z.boolean(),
      database: z.string(),
      /** `estimated` while a lock keeps the sizes from being measured: as of the last vacuum or analyze. */
      sizes: z.enum(['measured', 'estimated']),
    }),
  }),
  postgresReplication: rpc({
    ...traits,
    doc: 'Standbys, slots and subscriptions of the PostgreSQL source with their lag.',
    feature: 'CLUSTER',
    input: z.object({}),
    output: z.object({ replication: PostgresReplication, limited: Limited.nullable() }),
  }),
  postgresLocks: rpc({
    ...traits,
    doc: 'Sessions of the PostgreSQL source that wait for locks and those that they wait for; whoever blocks most comes first.',
    feature: 'QUERIES',
    input: z.object({
      /** Statements with the values in them. */
      withValues: z.boolean().default(false),
    }),
    output: z.object({ sessions: z.array(LockSession), truncated: z.boolean(), limited: Limited.nullable() }),
  }),
}
