import type { RouteData } from './call.ts'
import { createRouteQuery } from './route-query.ts'

/** A database, or one of its tables. */
export interface DatabaseOrTable {
  database: string
  table?: string
}
type TableName = Required<DatabaseOrTable>

export type Dependency = RouteData<'GET /api/v1/explorer/dependencies'>[number]

const explorerKey = ['explorer']

/** Keeps responses fresh for a minute, because schemas change rarely and the tree is expanded often. */
const withSchemaStaleTime = <Q extends object>(query: Q) => ({ ...query, staleTime: 60_000 })

export const databasesQuery = (hostId: number) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/databases', { query: { hostId } }))
export const tablesQuery = (hostId: number, database: string) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/tables', { query: { hostId, database } }))
export const tableOverviewQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/table', { query: { hostId, ...place } }))
export const columnsQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/columns', { query: { hostId, ...place } }))
export const ddlQuery = (hostId: number, place: DatabaseOrTable) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/ddl', { query: { hostId, ...place } }))
export const skipIndexesQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(
    createRouteQuery(explorerKey, 'GET /api/v1/explorer/skip-indexes', { query: { hostId, ...place } }),
  )
export const projectionsQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(
    createRouteQuery(explorerKey, 'GET /api/v1/explorer/projections', { query: { hostId, ...place } }),
  )
export const partsQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/parts', { query: { hostId, ...place } }))
export const dependenciesQuery = (hostId: number, place: DatabaseOrTable) =>
  withSchemaStaleTime(
    createRouteQuery(explorerKey, 'GET /api/v1/explorer/dependencies', { query: { hostId, ...place } }),
  )
export const usageQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/usage', { query: { hostId, ...place } }))
export const tableQueriesQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/query-log', { query: { hostId, ...place } }))
export const previewQuery = (hostId: number, place: TableName) =>
  withSchemaStaleTime(createRouteQuery(explorerKey, 'GET /api/v1/explorer/preview', { query: { hostId, ...place } }))
