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
export const PostgresStatusAnswer = answer(PostgresStatus, z.object({}))

/** `GET /api/v1/postgres/activity`; `all=1` adds idle sessions and processes of the server itself. */
export const PostgresActivityQuery = z.strictObject({ all: yesOrNo.default(false), limit })
/** Its answer. */
export const PostgresActivityAnswer = answer(z.array(PostgresSession), postgresActivity.output.omit({ sessions: true }))

/** `GET /api/v1/postgres/statements`; `search` is text that a pattern contains. */
export const PostgresStatementsQuery = z.strictObject({
  order: z.enum(statementOrders, `must be one of ${statementOrders.join(', ')}`).default('total_time'),
  search,
  limit,
})
/** Its answer; empty where patterns are not counted, which `metadata.unavailable` explains step by step. */
export const PostgresStatementsAnswer = answer(
  z.array(PostgresStatement),
  postgresStatements.output.omit({ statements: true }),
)

/** `GET /api/v1/postgres/tables`; `search` is text that `schema.table` contains. */
export const PostgresTablesQuery = z.strictObject({
  order: z.enum(postgresTableOrders, `must be one of ${postgresTableOrders.join(', ')}`).default('size'),
  search,
  limit,
})
/** Its answer. */
export const PostgresTablesAnswer = answer(z.array(PostgresTable), postgresTables.output.omit({ tables: true }))

/** `GET /api/v1/postgres/replication` */
export const PostgresReplicationAnswer = answer(
  PostgresReplication,
  postgresReplication.output.omit({ replication: true }),
)

/** `GET /api/v1/postgres/locks`: nobody waits when it is empty. */
export const PostgresLocksAnswer = answer(z.array(LockSession), postgresLocks.output.omit({ sessions: true }))
