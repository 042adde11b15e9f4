import { noQuery } from '#proto/http/parameters.ts'
import {
  PostgresActivityAnswer,
  PostgresActivityQuery,
  PostgresLocksAnswer,
  PostgresReplicationAnswer,
  PostgresStatementsAnswer,
  PostgresStatementsQuery,
  PostgresStatusAnswer,
  PostgresTablesAnswer,
  PostgresTablesQuery,
} from '#proto/http/postgres.ts'
import { getRoute } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const traits = { access: 'read', limit: 'data' } as const

const status = getRoute({
  ...traits,
  path: '/api/v1/postgres/status',
  doc: 'Whether the PostgreSQL source is set up and answers, and what to do where it does not',
  feature: 'QUERIES',
  query: noQuery,
  answer: PostgresStatusAnswer,
  handle: async ({ call }, { query }) => success(await query.postgresStatus({}, call), {}),
})

const activity = getRoute({
  ...traits,
  path: '/api/v1/postgres/activity',
  doc: 'Sessions of the PostgreSQL source with what they do',
  feature: 'QUERIES',
  query: PostgresActivityQuery,
  answer: PostgresActivityAnswer,
  handle: async ({ query: asked, call }, { query }) => {
    const { sessions, ...metadata } = await query.postgresActivity({ ...asked, withValues: true }, call)
    return success(sessions, metadata)
  },
})

const statements = getRoute({
  ...traits,
  path: '/api/v1/postgres/statements',
  doc: 'Patterns of statements of the PostgreSQL source with what they cost',
  feature: 'QUERIES',
  query: PostgresStatementsQuery,
  answer: PostgresStatementsAnswer,
  handle: async ({ query: asked, call }, { query }) => {
    const { statements: patterns, ...metadata } = await query.postgresStatements(asked, call)
    return success(patterns, metadata)
  },
})

const tables = getRoute({
  ...traits,
  path: '/api/v1/postgres/tables',
  doc: 'Tables of the PostgreSQL source with sizes, reads, writes and upkeep',
  feature: 'TABLES',
  query: PostgresTablesQuery,
  answer: PostgresTablesAnswer,
  handle: async ({ query: asked, call }, { query }) => {
    const { tables: found, ...metadata } = await query.postgresTables(asked, call)
    return success(found, metadata)
  },
})

const replication = getRoute({
  ...traits,
  path: '/api/v1/postgres/replication',
  doc: 'Standbys, slots and subscriptions of the PostgreSQL source with their lag',
  feature: 'CLUSTER',
  query: noQuery,
  answer: PostgresReplicationAnswer,
  handle: async ({ call }, { query }) => {
    const { replication: found, ...metadata } = await query.postgresReplication({}, call)
    return success(found, metadata)
  },
})

const locks = getRoute({
  ...traits,
  path: '/api/v1/postgres/locks',
  doc: 'Sessions of the PostgreSQL source that wait for locks, and whom they wait for',
  feature: 'QUERIES',
  query: noQuery,
  answer: PostgresLocksAnswer,
  handle: async ({ call }, { query }) => {
    const { sessions, ...metadata } = await query.postgresLocks({ withValues: true }, call)
    return success(sessions, metadata)
  },
})

/** Everything about the PostgreSQL source. */
export const postgresRoutes = [status, activity, statements, tables, replication, locks]
