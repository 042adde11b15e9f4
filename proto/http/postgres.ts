import { z } from 'zod'
import { maxPostgresEntries, postgresSourceMethods, PostgresStatus } from '../postgres-source.ts'
import { LockSession, PostgresSession } from '../postgres-sessions.ts'
import {
  postgresTableOrders,
  PostgresReplication,
  PostgresStatement,
  PostgresTable,
  statementOrders,
} from '../postgres-statistics.ts'
import { answer } from './answer.ts'
import { text, whole, yesOrNo } from './parameters.ts'

const limit = whole(1, maxPostgresEntries).default(100)
const search = text.max(256, 'must not be longer than 256 characters').optional()
const { postgresActivity, postgresStatements, postgresTables, postgresReplication, postgresLocks } =
  postgresSourceMethods

/** `GET /api/v1/postgres/status` */
export const PostgresStatusResponse = answer(PostgresStatus, z.object({}))

/** `GET /api/v1/postgres/activity`; `all=1` adds idle sessions and processes of the server itself. */
export const PostgresActivityQuery = z.strictObject({ all: yesOrNo.default(false), limit })
/** The response. */
export const PostgresActivityResponse = answer(
  z.array(PostgresSession),
  postgresActivity.output.omit({ sessions: true }),
)

/** `GET /api/v1/postgres/statements`; `search` matches substrings of patterns. */
export const PostgresStatementsQuery = z.strictObject({
  order: z.enum(statementOrders, `must be one of ${statementOrders.join(', ')}`).default('total_time'),
  search,
  limit,
})
/** The response. It is empty if patterns are not tracked; `metadata.unavailable` contains the steps to enable it. */
export const PostgresStatementsResponse = answer(
  z.array(PostgresStatement),
  postgresStatements.output.omit({ statements: true }),
)

/** `GET /api/v1/postgres/tables`; `search` matches substrings of `schema.table`. */
export const PostgresTablesQuery = z.strictObject({
  order: z.enum(postgresTableOrders, `must be one of ${postgresTableOrders.join(', ')}`).default('size'),
  search,
  limit,
})
/** The response. */
export const PostgresTablesResponse = answer(z.array(PostgresTable), postgresTables.output.omit({ tables: true }))

/** `GET /api/v1/postgres/replication` */
export const PostgresReplicationResponse = answer(
  PostgresReplication,
  postgresReplication.output.omit({ replication: true }),
)

/** `GET /api/v1/postgres/locks`: empty if no session waits. */
export const PostgresLocksResponse = answer(z.array(LockSession), postgresLocks.output.omit({ sessions: true }))
