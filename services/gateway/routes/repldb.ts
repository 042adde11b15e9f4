import { noQuery } from '#proto/http/parameters.ts'
import {
  repldbAnswer,
  RepldbBatches,
  RepldbBatchesRequest,
  RepldbGraph,
  RepldbGraphRequest,
  RepldbInitialLoad,
  RepldbLogPatternsAnswer,
  RepldbLogPatternsQuery,
  RepldbLogs,
  RepldbLogsRequest,
  RepldbMirrorNames,
  RepldbMirrors,
  RepldbMirrorStatus,
  RepldbMirrorStatusRequest,
  RepldbOverviewAnswer,
  RepldbRowsSynced,
  RepldbSettings,
  RepldbStatusAnswer,
  RepldbTableCounts,
  RepldbVersion,
} from '#proto/http/repldb.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'
import { told, repldbPeerRoutes } from './repldb-peers.ts'

const common = { feature: 'REPLDB', access: 'read', limit: 'data' } as const

/** Whether there is such a service, and what to do where it does not answer; 200 in every state. */
const status = getRoute({
  ...common,
  path: '/api/v1/repldb-status',
  doc: 'Whether the replication service answers: connected, auth, unreachable or not-configured',
  query: noQuery,
  answer: RepldbStatusAnswer,
  handle: told((query, _asked, call) => query.repldbStatus({}, call)),
})

const overview = getRoute({
  ...common,
  path: '/api/v1/repldb/overview',
  doc: 'All mirrors with state, lag and throughput, the worst first',
  query: noQuery,
  answer: RepldbOverviewAnswer,
  handle: told((query, _asked, call) => query.repldbOverview({}, call)),
})

const logPatterns = getRoute({
  ...common,
  path: '/api/v1/repldb/log-patterns',
  doc: 'Patterns of the latest lines of one mirror, or of all',
  query: RepldbLogPatternsQuery,
  answer: RepldbLogPatternsAnswer,
  handle: told((query, { query: asked }, call) => query.repldbLogPatterns(asked, call)),
})

const version = getRoute({
  ...common,
  path: '/api/v1/repldb/version',
  doc: 'Version of the replication service',
  query: noQuery,
  answer: repldbAnswer(RepldbVersion),
  handle: told((query, _asked, call) => query.repldbVersion({}, call)),
})

const settings = getRoute({
  ...common,
  path: '/api/v1/repldb/dynamic_settings',
  doc: 'Settings of the replication service, secrets hidden',
  query: noQuery,
  answer: repldbAnswer(RepldbSettings),
  handle: told((query, _asked, call) => query.repldbSettings({}, call)),
})

const mirrors = getRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/list',
  doc: 'Mirrors of the replication service',
  query: noQuery,
  answer: repldbAnswer(RepldbMirrors),
  handle: told((query, _asked, call) => query.repldbMirrors({}, call)),
})

const mirrorNames = getRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/names',
  doc: 'Names of its mirrors',
  query: noQuery,
  answer: repldbAnswer(RepldbMirrorNames),
  handle: told((query, _asked, call) => query.repldbMirrorNames({}, call)),
})

const tableCounts = getRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/table_total_counts/{mirror}',
  doc: 'Rows of a mirror by table and kind of change',
  query: noQuery,
  answer: repldbAnswer(RepldbTableCounts),
  handle: told((query, { path }, call) => query.repldbTableCounts(path, call)),
})

const initialLoad = getRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/initial_load/{mirror}',
  doc: 'How far the first copy of each table of a mirror is',
  query: noQuery,
  answer: repldbAnswer(RepldbInitialLoad),
  handle: told((query, { path }, call) => query.repldbInitialLoad(path, call)),
})

const rowsSynced = getRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/total_rows_synced/{mirror}',
  doc: 'Rows that a mirror has written',
  query: noQuery,
  answer: repldbAnswer(RepldbRowsSynced),
  handle: told((query, { path }, call) => query.repldbRowsSynced(path, call)),
})

const mirrorStatus = postRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/status',
  doc: 'State of a mirror, and more of it',
  query: noQuery,
  body: RepldbMirrorStatusRequest,
  answer: repldbAnswer(RepldbMirrorStatus),
  handle: told((query, { body }, call) => query.repldbMirrorStatus(body, call)),
})

const graph = postRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/graph',
  doc: 'Rows that a mirror wrote, by time',
  query: noQuery,
  body: RepldbGraphRequest,
  answer: repldbAnswer(RepldbGraph),
  handle: told((query, { body }, call) => query.repldbGraph(body, call)),
})

const batches = postRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/cdc/batches',
  doc: 'Batches of a mirror',
  query: noQuery,
  body: RepldbBatchesRequest,
  answer: repldbAnswer(RepldbBatches),
  handle: told((query, { body }, call) => query.repldbBatches(body, call)),
})

const logs = postRoute({
  ...common,
  path: '/api/v1/repldb/mirrors/logs',
  doc: 'Lines of a mirror, or of all',
  query: noQuery,
  body: RepldbLogsRequest,
  answer: repldbAnswer(RepldbLogs),
  handle: told((query, { body }, call) => query.repldbLogs(body, call)),
})

/** All that the replication service may be asked through us: it is only read. */
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
