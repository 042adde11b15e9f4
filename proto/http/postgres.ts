import { z } from 'zod'
import { maxPostgresEntries, postgresSourceMethods, PostgresStatus } from '../postgres-source.ts'
import { LockSession, PostgresSession } from '../postgres-sessions.ts'
import {
  postgresTableOrders,
  PostgresReplication,
  PostgresStatement,
  PostgresTable,
  postgresStatementOrders,
} from '../postgres-statistics.ts'
import { createResponseSchema } from './response.ts'
import { textParameter, createIntegerParameter, booleanParameter } from './parameters.ts'

const limit = createIntegerParameter(1, maxPostgresEntries).default(100)
const search = textParameter.max(256, 'must not be longer than 256 characters').optional()
const { postgresActivity, postgresStatements, postgresTables, postgresReplication, postgresLocks } =
  postgresSourceMethods

/** Response of `GET /api/v1/postgres/status`. */
export const PostgresStatusResponse = createResponseSchema(PostgresStatus, z.object({}))

/** Query parameters of `GET /api/v1/postgres/activity`; `all=1` adds idle sessions and server processes. */
export const PostgresActivityQuery = z.strictObject({ all: booleanParameter.default(false), limit })
/** Response of `GET /api/v1/postgres/activity`. */
export const PostgresActivityResponse = createResponseSchema(
  z.array(PostgresSession),
  postgresActivity.output.omit({ sessions: true }),
)

/** Query parameters of `GET /api/v1/postgres/statements`; `search` matches substrings of patterns. */
export const PostgresStatementsQuery = z.strictObject({
  order: z.enum(postgresStatementOrders, `must be one of ${postgresStatementOrders.join(', ')}`).default('total_time'),
  search,
  limit,
})
/**
 * Response of `GET /api/v1/postgres/statements`. If the server tracks no patterns, `data` is empty and
 * `metadata.unavailable` contains the steps to enable it.
 */
export const PostgresStatementsResponse = createResponseSchema(
  z.array(PostgresStatement),
  postgresStatements.output.omit({ statements: true }),
)

/** Query parameters of `GET /api/v1/postgres/tables`; `search` matches substrings of `schema.table`. */
export const PostgresTablesQuery = z.strictObject({
  order: z.enum(postgresTableOrders, `must be one of ${postgresTableOrders.join(', ')}`).default('size'),
  search,
  limit,
})
/** Response of `GET /api/v1/postgres/tables`. */
export const PostgresTablesResponse = createResponseSchema(
  z.array(PostgresTable),
  postgresTables.output.omit({ tables: true }),
)

/** Response of `GET /api/v1/postgres/replication`. */
export const PostgresReplicationResponse = createResponseSchema(
  PostgresReplication,
  postgresReplication.output.omit({ replication: true }),
)

/** Response of `GET /api/v1/postgres/locks`; empty if no session waits for a lock. */
export const PostgresLocksResponse = createResponseSchema(
  z.array(LockSession),
  postgresLocks.output.omit({ sessions: true }),
)
