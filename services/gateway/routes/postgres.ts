import { noQuery } from '#proto/http/parameters.ts'
import {
  PostgresActivityResponse,
  PostgresActivityQuery,
  PostgresLocksResponse,
  PostgresReplicationResponse,
  PostgresStatementsResponse,
  PostgresStatementsQuery,
  PostgresStatusResponse,
  PostgresTablesResponse,
  PostgresTablesQuery,
} from '#proto/http/postgres.ts'
import { defineGetRoute } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const traits = { access: 'read', limit: 'data' } as const

const status = defineGetRoute({
  ...traits,
  path: '/api/v1/postgres/status',
  doc: 'Returns whether the PostgreSQL source is configured and reachable, and what to do otherwise',
  feature: 'QUERIES',
  query: noQuery,
  answer: PostgresStatusResponse,
  handle: async ({ call }, { query }) => createSuccessBody(await query.postgresStatus({}, call), {}),
})

const activity = defineGetRoute({
  ...traits,
  path: '/api/v1/postgres/activity',
  doc: 'Lists sessions of the PostgreSQL source with their activity',
  feature: 'QUERIES',
  query: PostgresActivityQuery,
  answer: PostgresActivityResponse,
  handle: async ({ query: request, call }, { query }) => {
    const { sessions, ...metadata } = await query.postgresActivity({ ...request, withValues: true }, call)
    return createSuccessBody(sessions, metadata)
  },
})

const statements = defineGetRoute({
  ...traits,
  path: '/api/v1/postgres/statements',
  doc: 'Lists statement patterns of the PostgreSQL source with their cost',
  feature: 'QUERIES',
  query: PostgresStatementsQuery,
  answer: PostgresStatementsResponse,
  handle: async ({ query: request, call }, { query }) => {
    const { statements: patterns, ...metadata } = await query.postgresStatements(request, call)
    return createSuccessBody(patterns, metadata)
  },
})

const tables = defineGetRoute({
  ...traits,
  path: '/api/v1/postgres/tables',
  doc: 'Lists tables of the PostgreSQL source with sizes, reads, writes and maintenance',
  feature: 'TABLES',
  query: PostgresTablesQuery,
  answer: PostgresTablesResponse,
  handle: async ({ query: request, call }, { query }) => {
    const { tables: found, ...metadata } = await query.postgresTables(request, call)
    return createSuccessBody(found, metadata)
  },
})

const replication = defineGetRoute({
  ...traits,
  path: '/api/v1/postgres/replication',
  doc: 'Lists standbys, slots and subscriptions of the PostgreSQL source with their lag',
  feature: 'CLUSTER',
  query: noQuery,
  answer: PostgresReplicationResponse,
  handle: async ({ call }, { query }) => {
    const { replication: found, ...metadata } = await query.postgresReplication({}, call)
    return createSuccessBody(found, metadata)
  },
})

const locks = defineGetRoute({
  ...traits,
  path: '/api/v1/postgres/locks',
  doc: 'Lists sessions of the PostgreSQL source that wait for locks, and the sessions that block them',
  feature: 'QUERIES',
  query: noQuery,
  answer: PostgresLocksResponse,
  handle: async ({ call }, { query }) => {
    const { sessions, ...metadata } = await query.postgresLocks({ withValues: true }, call)
    return createSuccessBody(sessions, metadata)
  },
})

/** Routes of the PostgreSQL source. */
export const postgresRoutes = [status, activity, statements, tables, replication, locks]
