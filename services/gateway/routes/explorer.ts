import {
  ColumnsResponse,
  DatabasesResponse,
  DatabasesQuery,
  DdlResponse,
  DependenciesResponse,
  KeysResponse,
  ExplorerDatabaseQuery,
  ExplorerTableQuery,
  PartsResponse,
  PartsQuery,
  PreviewQuery,
  ProjectionsResponse,
  SkipIndexesResponse,
  TableOverviewResponse,
  TableQueriesResponse,
  TableQueriesQuery,
  TablesResponse,
  TablesQuery,
  UsageResponse,
  UsageQuery,
} from '#proto/http/explorer.ts'
import { TableKeys } from '#proto/explorer.ts'
import { ConsoleResponse } from '#proto/http/console.ts'
import type { CallContext } from '#proto/call.ts'
import type { UnavailableReason } from '#proto/unavailable-reason.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, type Route, defineRowsRoute } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const common = { feature: 'TABLES', access: 'read', limit: 'data' } as const

interface List<R> {
  rows: R[]
  truncated: boolean
  unavailable: UnavailableReason | null
}
interface Detail<D> {
  detail: D | null
  unavailable: UnavailableReason | null
}

/** Returns the name of the host, and the query parameters with the host key in place of the position. */
const resolveHost = async <Q extends { hostId: number }>({ hosts }: Gateway, { hostId, ...request }: Q) => {
  const { key, name } = await hosts.find(hostId)
  return { host: name, request: { hostKey: key, ...request } }
}

type ExplorerCall<Q, R> = (
  query: Gateway['query'],
  request: Omit<Q, 'hostId'> & { hostKey: string },
  call: CallContext,
) => Promise<R>
interface ExplorerRequest<Q> {
  query: Q
  call: CallContext
}

/** Returns a handler that queries one host and responds with a list. */
const respondWithList =
  <Q extends { hostId: number }, R>(load: ExplorerCall<Q, List<R>>) =>
  async ({ query, call }: ExplorerRequest<Q>, gateway: Gateway) => {
    const { host, request } = await resolveHost(gateway, query)
    const { rows, ...metadata } = await load(gateway.query, request, call)
    return createSuccessBody(rows, { host, ...metadata })
  }

/** Returns a handler that queries one host and responds with the details of one object. */
const respondWithDetail =
  <Q extends { hostId: number }, D>(load: ExplorerCall<Q, Detail<D>>) =>
  async ({ query, call }: ExplorerRequest<Q>, gateway: Gateway) => {
    const { host, request } = await resolveHost(gateway, query)
    const { detail, unavailable } = await load(gateway.query, request, call)
    return createSuccessBody(detail, { host, unavailable })
  }

const databases = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/databases',
  doc: 'Lists databases with their contents',
  query: DatabasesQuery,
  answer: DatabasesResponse,
  handle: respondWithList((query, request, call) => query.exploreDatabases(request, call)),
})

const tables = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/tables',
  doc: 'Lists tables, views and dictionaries of a database',
  query: TablesQuery,
  answer: TablesResponse,
  handle: respondWithList((query, request, call) => query.exploreTables(request, call)),
})

const table = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/table',
  doc: 'Returns one table: engine, keys, size, parts',
  query: ExplorerTableQuery,
  answer: TableOverviewResponse,
  handle: respondWithDetail((query, request, call) => query.exploreTable(request, call)),
})

const indexes = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/indexes',
  doc: 'Returns the engine of a table and its partition, sorting, primary and sampling keys',
  query: ExplorerTableQuery,
  answer: KeysResponse,
  handle: respondWithDetail(async (query, request, call) => {
    const { detail, unavailable } = await query.exploreTable(request, call)
    return { detail: detail && TableKeys.parse(detail), unavailable }
  }),
})

const columns = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/columns',
  doc: 'Lists columns of a table with sizes, compression, codecs and the keys they are part of',
  query: ExplorerTableQuery,
  answer: ColumnsResponse,
  handle: respondWithList((query, request, call) => query.exploreColumns(request, call)),
})

const ddl = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/ddl',
  doc: 'Returns the CREATE statement of a table, or of the database when no table is named',
  query: ExplorerDatabaseQuery,
  answer: DdlResponse,
  handle: respondWithDetail((query, request, call) => query.exploreDdl(request, call)),
})

const skipIndexes = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/skip-indexes',
  doc: 'Lists data skipping indexes of a table with their sizes',
  query: ExplorerTableQuery,
  answer: SkipIndexesResponse,
  handle: respondWithList((query, request, call) => query.exploreSkipIndexes(request, call)),
})

const projections = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/projections',
  doc: 'Lists projections of a table with their definitions and sizes',
  query: ExplorerTableQuery,
  answer: ProjectionsResponse,
  handle: respondWithList((query, request, call) => query.exploreProjections(request, call)),
})

const parts = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/parts',
  doc: 'Lists parts of a table, largest first',
  query: PartsQuery,
  answer: PartsResponse,
  handle: respondWithList((query, { inactive, ...request }, call) =>
    query.exploreParts({ ...request, inactive: inactive === '1' }, call),
  ),
})

const dependencies = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/dependencies',
  doc: 'Lists upstream and downstream dependencies of a table, transitively; of all tables of the database when no table is named',
  query: ExplorerDatabaseQuery,
  answer: DependenciesResponse,
  handle: respondWithList((query, request, call) => query.exploreDependencies(request, call)),
})

const usage = defineGetRoute({
  ...common,
  path: '/api/v1/explorer/usage',
  doc: 'Returns who used a table, how often and when last',
  query: UsageQuery,
  answer: UsageResponse,
  handle: respondWithDetail((query, request, call) => query.exploreUsage(request, call)),
})

const queryLog = defineGetRoute({
  ...common,
  feature: 'QUERIES',
  path: '/api/v1/explorer/query-log',
  doc: 'Lists the latest queries that used a table, with literals removed',
  query: TableQueriesQuery,
  answer: TableQueriesResponse,
  handle: respondWithList((query, request, call) => query.exploreQueries(request, call)),
})

const preview = defineRowsRoute({
  ...common,
  // Write access, because rows are user data and not metadata.
  access: 'write',
  path: '/api/v1/explorer/preview',
  doc: 'Returns sample rows of a table',
  query: PreviewQuery,
  answer: ConsoleResponse,
  handle: async ({ query, call }, gateway) => {
    const { request } = await resolveHost(gateway, query)
    const { head, frames, tail } = await gateway.query.previewTable(request, call)
    const metadata = () => ({ ...tail().statement, truncated: tail().truncated })
    return { columns: head.columns ?? [], frames, metadata }
  },
})

/** Routes of the explorer, one per view. */
export const explorerRoutes: readonly Route[] = [
  databases,
  tables,
  table,
  indexes,
  columns,
  ddl,
  skipIndexes,
  projections,
  parts,
  dependencies,
  usage,
  queryLog,
  preview,
]
