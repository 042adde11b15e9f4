import type { RouteParameters } from './call.ts'
import { createRouteQuery } from './route-query.ts'

const postgresKey = ['postgres']

/** Query for whether the PostgreSQL source is reachable. */
export const postgresStatusQuery = () => createRouteQuery(postgresKey, 'GET /api/v1/postgres/status')
/** Query for sessions; `all` includes idle sessions and server processes. */
export const postgresActivityQuery = (all: boolean) =>
  createRouteQuery(postgresKey, 'GET /api/v1/postgres/activity', { query: { limit: 500, all: all ? '1' : null } })
/** Query for statement statistics by pattern. */
export const postgresStatementsQuery = (
  order: RouteParameters<'GET /api/v1/postgres/statements'>['order'],
  search: string,
) => createRouteQuery(postgresKey, 'GET /api/v1/postgres/statements', { query: { order, limit: 200, search } })
/** Query for the tables of the source database. */
export const postgresTablesQuery = (order: RouteParameters<'GET /api/v1/postgres/tables'>['order'], search: string) =>
  createRouteQuery(postgresKey, 'GET /api/v1/postgres/tables', { query: { order, limit: 200, search } })
/** Query for replication senders, receivers and slots. */
export const postgresReplicationQuery = () => createRouteQuery(postgresKey, 'GET /api/v1/postgres/replication')
/** Query for lock waits. */
export const postgresLocksQuery = () => createRouteQuery(postgresKey, 'GET /api/v1/postgres/locks')
