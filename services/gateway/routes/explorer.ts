import {
  ColumnsAnswer,
  DatabasesAnswer,
  DatabasesQuery,
  DdlAnswer,
  DependenciesAnswer,
  KeysAnswer,
  OfDatabaseQuery,
  OfTableQuery,
  PartsAnswer,
  PartsQuery,
  PreviewQuery,
  ProjectionsAnswer,
  SkipIndexesAnswer,
  TableOverviewAnswer,
  TableQueriesAnswer,
  TableQueriesQuery,
  TablesAnswer,
  TablesQuery,
  UsageAnswer,
  UsageQuery,
} from '#proto/http/explorer.ts'
import { TableKeys } from '#proto/explorer.ts'
import { ConsoleAnswer } from '#proto/http/console.ts'
import type { Call } from '#proto/call.ts'
import type { Unavailable } from '#proto/unavailable.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, type Route, rowsRoute } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const common = { feature: 'TABLES', access: 'read', limit: 'data' } as const

interface List<R> {
  rows: R[]
  truncated: boolean
  unavailable: Unavailable | null
}
interface Detail<D> {
  detail: D | null
  unavailable: Unavailable | null
}

/** The name of the host, and what to ask of it: the parameters of the URL without the host's position. */
const on = async <Q extends { hostId: number }>({ hosts }: Gateway, { hostId, ...asked }: Q) => {
  const { key, name } = await hosts.find(hostId)
  return { host: name, asked: { hostKey: key, ...asked } }
}

type Ask<Q, R> = (query: Gateway['query'], asked: Omit<Q, 'hostId'> & { hostKey: string }, call: Call) => Promise<R>
interface Given<Q> {
  query: Q
  call: Call
}

/** Answers with what the host that the URL names has of something. */
const listed =
  <Q extends { hostId: number }, R>(ask: Ask<Q, List<R>>) =>
  async ({ query, call }: Given<Q>, gateway: Gateway) => {
    const { host, asked } = await on(gateway, query)
    const { rows, ...metadata } = await ask(gateway.query, asked, call)
    return success(rows, { host, ...metadata })
  }

/** Answers with what it tells of one thing. */
const told =
  <Q extends { hostId: number }, D>(ask: Ask<Q, Detail<D>>) =>
  async ({ query, call }: Given<Q>, gateway: Gateway) => {
    const { host, asked } = await on(gateway, query)
    const { detail, unavailable } = await ask(gateway.query, asked, call)
    return success(detail, { host, unavailable })
  }

const databases = getRoute({
  ...common,
  path: '/api/v1/explorer/databases',
  doc: 'Databases with what is in them',
  query: DatabasesQuery,
  answer: DatabasesAnswer,
  handle: listed((query, asked, call) => query.exploreDatabases(asked, call)),
})

const tables = getRoute({
  ...common,
  path: '/api/v1/explorer/tables',
  doc: 'Tables, views and dictionaries of a database',
  query: TablesQuery,
  answer: TablesAnswer,
  handle: listed((query, asked, call) => query.exploreTables(asked, call)),
})

const table = getRoute({
  ...common,
  path: '/api/v1/explorer/table',
  doc: 'One table: engine, keys, size, parts',
  query: OfTableQuery,
  answer: TableOverviewAnswer,
  handle: told((query, asked, call) => query.exploreTable(asked, call)),
})

const indexes = getRoute({
  ...common,
  path: '/api/v1/explorer/indexes',
  doc: 'The keys of a table: partition, sorting, primary and sampling key, and its engine',
  query: OfTableQuery,
  answer: KeysAnswer,
  handle: told(async (query, asked, call) => {
    const { detail, unavailable } = await query.exploreTable(asked, call)
    return { detail: detail && TableKeys.parse(detail), unavailable }
  }),
})

const columns = getRoute({
  ...common,
  path: '/api/v1/explorer/columns',
  doc: 'Columns of a table with sizes, compression, codecs and the keys they are part of',
  query: OfTableQuery,
  answer: ColumnsAnswer,
  handle: listed((query, asked, call) => query.exploreColumns(asked, call)),
})

const ddl = getRoute({
  ...common,
  path: '/api/v1/explorer/ddl',
  doc: 'The statement that creates a table, or the database when no table is named',
  query: OfDatabaseQuery,
  answer: DdlAnswer,
  handle: told((query, asked, call) => query.exploreDdl(asked, call)),
})

const skipIndexes = getRoute({
  ...common,
  path: '/api/v1/explorer/skip-indexes',
  doc: 'Data skipping indexes of a table with their sizes',
  query: OfTableQuery,
  answer: SkipIndexesAnswer,
  handle: listed((query, asked, call) => query.exploreSkipIndexes(asked, call)),
})

const projections = getRoute({
  ...common,
  path: '/api/v1/explorer/projections',
  doc: 'Projections of a table with their definitions and sizes',
  query: OfTableQuery,
  answer: ProjectionsAnswer,
  handle: listed((query, asked, call) => query.exploreProjections(asked, call)),
})

const parts = getRoute({
  ...common,
  path: '/api/v1/explorer/parts',
  doc: 'Parts of a table, largest first',
  query: PartsQuery,
  answer: PartsAnswer,
  handle: listed((query, { inactive, ...asked }, call) =>
    query.exploreParts({ ...asked, inactive: inactive === '1' }, call),
  ),
})

const dependencies = getRoute({
  ...common,
  path: '/api/v1/explorer/dependencies',
  doc: 'What a table is made of and what is made of it, over any number of others; of all tables of the database when no table is named',
  query: OfDatabaseQuery,
  answer: DependenciesAnswer,
  handle: listed((query, asked, call) => query.exploreDependencies(asked, call)),
})

const usage = getRoute({
  ...common,
  path: '/api/v1/explorer/usage',
  doc: 'Who used a table, how often and when last',
  query: UsageQuery,
  answer: UsageAnswer,
  handle: told((query, asked, call) => query.exploreUsage(asked, call)),
})

const queryLog = getRoute({
  ...common,
  feature: 'QUERIES',
  path: '/api/v1/explorer/query-log',
  doc: 'The latest queries that used a table, without the values in their text',
  query: TableQueriesQuery,
  answer: TableQueriesAnswer,
  handle: listed((query, asked, call) => query.exploreQueries(asked, call)),
})

const preview = rowsRoute({
  ...common,
  // Rows are what people stored, not what the server says of itself.
  access: 'write',
  path: '/api/v1/explorer/preview',
  doc: 'Some rows of a table',
  query: PreviewQuery,
  answer: ConsoleAnswer,
  handle: async ({ query, call }, gateway) => {
    const { asked } = await on(gateway, query)
    const { head, frames, tail } = await gateway.query.previewTable(asked, call)
    const metadata = () => ({ ...tail().statement, truncated: tail().truncated })
    return { columns: head.columns ?? [], frames, metadata }
  },
})

/** What there is on a host, one request for each view. */
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
