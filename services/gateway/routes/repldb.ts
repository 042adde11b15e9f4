import { noQuery } from '#proto/http/parameters.ts'
import {
  createRepldbResponseSchema,
  RepldbBatches,
  RepldbBatchesRequest,
  RepldbGraph,
  RepldbGraphRequest,
  RepldbInitialLoad,
  RepldbLogPatternsResponse,
  RepldbLogPatternsQuery,
  RepldbLogs,
  RepldbLogsRequest,
  RepldbMirrorNames,
  RepldbMirrors,
  RepldbMirrorStatus,
  RepldbMirrorStatusRequest,
  RepldbOverviewResponse,
  RepldbRowsSynced,
  RepldbSettings,
  RepldbStatusResponse,
  RepldbTableCounts,
  RepldbVersion,
} from '#proto/http/repldb.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { respondWithQueryResult, repldbPeerRoutes } from './repldb-peers.ts'

const common = { feature: 'REPLDB', access: 'read', limit: 'data' } as const

/** Reports the state of the replication service, with status 200 even while it is unreachable. */
const status = defineGetRoute({
  ...common,
  path: '/api/v1/repldb-status',
  doc: 'Returns the status of the replication service: connected, auth, unreachable or not-configured',
  query: noQuery,
  answer: RepldbStatusResponse,
  handle: respondWithQueryResult((query, _request, call) => query.repldbStatus({}, call)),
})

const overview = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/overview',
  doc: 'Lists all mirrors with state, lag and throughput, worst first',
  query: noQuery,
  answer: RepldbOverviewResponse,
  handle: respondWithQueryResult((query, _request, call) => query.repldbOverview({}, call)),
})

const logPatterns = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/log-patterns',
  doc: 'Lists patterns of the latest log lines of one mirror or of all',
  query: RepldbLogPatternsQuery,
  answer: RepldbLogPatternsResponse,
  handle: respondWithQueryResult((query, { query: request }, call) => query.repldbLogPatterns(request, call)),
})

const version = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/version',
  doc: 'Returns the version of the replication service',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbVersion),
  handle: respondWithQueryResult((query, _request, call) => query.repldbVersion({}, call)),
})

const settings = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/dynamic_settings',
  doc: 'Lists the settings of the replication service without secrets',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbSettings),
  handle: respondWithQueryResult((query, _request, call) => query.repldbSettings({}, call)),
})

const mirrors = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/list',
  doc: 'Lists the mirrors of the replication service',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbMirrors),
  handle: respondWithQueryResult((query, _request, call) => query.repldbMirrors({}, call)),
})

const mirrorNames = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/names',
  doc: 'Lists the names of the mirrors',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbMirrorNames),
  handle: respondWithQueryResult((query, _request, call) => query.repldbMirrorNames({}, call)),
})

const tableCounts = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/table_total_counts/{mirror}',
  doc: 'Returns the rows of a mirror by table and kind of change',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbTableCounts),
  handle: respondWithQueryResult((query, { path }, call) => query.repldbTableCounts(path, call)),
})

const initialLoad = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/initial_load/{mirror}',
  doc: 'Returns the progress of the initial load for each table of a mirror',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbInitialLoad),
  handle: respondWithQueryResult((query, { path }, call) => query.repldbInitialLoad(path, call)),
})

const rowsSynced = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/total_rows_synced/{mirror}',
  doc: 'Returns the number of rows that a mirror has written',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbRowsSynced),
  handle: respondWithQueryResult((query, { path }, call) => query.repldbRowsSynced(path, call)),
})

const mirrorStatus = definePostRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/status',
  doc: 'Returns the state and details of a mirror',
  query: noQuery,
  body: RepldbMirrorStatusRequest,
  answer: createRepldbResponseSchema(RepldbMirrorStatus),
  handle: respondWithQueryResult((query, { body }, call) => query.repldbMirrorStatus(body, call)),
})

const graph = definePostRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/graph',
  doc: 'Returns the rows that a mirror wrote over time',
  query: noQuery,
  body: RepldbGraphRequest,
  answer: createRepldbResponseSchema(RepldbGraph),
  handle: respondWithQueryResult((query, { body }, call) => query.repldbGraph(body, call)),
})

const batches = definePostRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/batches',
  doc: 'Lists the batches of a mirror',
  query: noQuery,
  body: RepldbBatchesRequest,
  answer: createRepldbResponseSchema(RepldbBatches),
  handle: respondWithQueryResult((query, { body }, call) => query.repldbBatches(body, call)),
})

const logs = definePostRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/logs',
  doc: 'Lists the log lines of a mirror or of all',
  query: noQuery,
  body: RepldbLogsRequest,
  answer: createRepldbResponseSchema(RepldbLogs),
  handle: respondWithQueryResult((query, { body }, call) => query.repldbLogs(body, call)),
})

/** Routes of the replication service, all read-only. */
export const repldbRoutes: readonly Route[] = [
  status,
  overview,
  logPatterns,
  version,
  settings,
  mirrors,
  mirrorNames,
  tableCounts,
  initialLoad,
  rowsSynced,
  mirrorStatus,
  graph,
  batches,
  logs,
  ...repldbPeerRoutes,
]
