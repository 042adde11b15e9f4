import type { Query } from './call.ts'
import { routeQuery } from './route-query.ts'

const about = ['postgres']

/** Whether the PostgreSQL source answers. */
export const postgresStatusQuery = () => routeQuery(about, 'GET /api/v1/postgres/status')
/** Sessions; with `all` idle ones and processes of the server itself too. */
export const postgresActivityQuery = (all: boolean) =>
  routeQuery(about, 'GET /api/v1/postgres/activity', { query: { limit: 500, all: all ? '1' : null } })
/** Patterns of statements. */
export const postgresStatementsQuery = (order: Query<'GET /api/v1/postgres/statements'>['order'], search: string) =>
  routeQuery(about, 'GET /api/v1/postgres/statements', { query: { order, limit: 200, search } })
/** Tables of the source's database. */
export const postgresTablesQuery = (order: Query<'GET /api/v1/postgres/tables'>['order'], search: string) =>
  routeQuery(about, 'GET /api/v1/postgres/tables', { query: { order, limit: 200, search } })
/** Who copies from whom. */
export const postgresReplicationQuery = () => routeQuery(about, 'GET /api/v1/postgres/replication')
/** Who blocks whom. */
export const postgresLocksQuery = () => routeQuery(about, 'GET /api/v1/postgres/locks')
