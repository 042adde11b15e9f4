import type { Query } from './call.ts'
import { routeQuery } from './route-query.ts'

const about = ['postgres']

/** Whether the PostgreSQL source is reachable. */
export const postgresStatusQuery = () => routeQuery(about, 'GET /api/v1/postgres/status')
/** Sessions; `all` includes idle sessions and server processes. */
export const postgresActivityQuery = (all: boolean) =>
  routeQuery(about, 'GET /api/v1/postgres/activity', { query: { limit: 500, all: all ? '1' : null } })
/** Statement statistics by pattern. */
export const postgresStatementsQuery = (order: Query<'GET /api/v1/postgres/statements'>['order'], search: string) =>
  routeQuery(about, 'GET /api/v1/postgres/statements', { query: { order, limit: 200, search } })
/** Tables of the source database. */
export const postgresTablesQuery = (order: Query<'GET /api/v1/postgres/tables'>['order'], search: string) =>
  routeQuery(about, 'GET /api/v1/postgres/tables', { query: { order, limit: 200, search } })
/** Replication senders, receivers and slots. */
export const postgresReplicationQuery = () => routeQuery(about, 'GET /api/v1/postgres/replication')
/** Lock waits. */
export const postgresLocksQuery = () => routeQuery(about, 'GET /api/v1/postgres/locks')
