import type { RouteBody } from './call.ts'
import { createRouteQuery } from './route-query.ts'

const repldbKey = ['repldb']

/** Query for whether the replication service is reachable. */
export const repldbStatusQuery = () => createRouteQuery(repldbKey, 'GET /api/v1/repldb-status')
/** Query for all mirrors with state, lag and throughput. */
export const mirrorsQuery = () => createRouteQuery(repldbKey, 'GET /api/v1/repldb/overview')
/** Query for the state of one mirror. */
export const mirrorStatusQuery = (flowJobName: string) =>
  createRouteQuery(repldbKey, 'POST /api/v1/repldb/mirrors/status', {
    body: { flowJobName, includeFlowInfo: true, excludeBatches: true },
  })
/** Query for the total rows written by one mirror. */
export const rowsSyncedQuery = (mirror: string) =>
  createRouteQuery(repldbKey, 'GET /api/v1/repldb/mirrors/total_rows_synced/{mirror}', { path: { mirror } })
/** Query for the rows written by table and kind of change. */
export const tableCountsQuery = (mirror: string) =>
  createRouteQuery(repldbKey, 'GET /api/v1/repldb/mirrors/cdc/table_total_counts/{mirror}', { path: { mirror } })
/** Query for the rows written over time. */
export const mirrorGraphQuery = (
  flowJobName: string,
  aggregateType: RouteBody<'POST /api/v1/repldb/mirrors/cdc/graph'>['aggregateType'],
) => createRouteQuery(repldbKey, 'POST /api/v1/repldb/mirrors/cdc/graph', { body: { flowJobName, aggregateType } })
/** Query for the latest batches of a mirror. */
export const batchesQuery = (flowJobName: string) =>
  createRouteQuery(repldbKey, 'POST /api/v1/repldb/mirrors/cdc/batches', { body: { flowJobName, limit: 100 } })
/** Query for the patterns of the latest log lines of one mirror, or of all. */
export const logPatternsQuery = (
  mirror: string | undefined,
  level: RouteBody<'POST /api/v1/repldb/mirrors/logs'>['level'],
) => createRouteQuery(repldbKey, 'GET /api/v1/repldb/log-patterns', { query: { level, mirror } })
/** Query for the latest log lines. */
export const logLinesQuery = (
  mirror: string | undefined,
  level: RouteBody<'POST /api/v1/repldb/mirrors/logs'>['level'],
) =>
  createRouteQuery(repldbKey, 'POST /api/v1/repldb/mirrors/logs', {
    body: { flowJobName: mirror ?? '', level, numPerPage: 100 },
  })
/** Query for the peers: source and destination databases. */
export const peersQuery = () => createRouteQuery(repldbKey, 'GET /api/v1/repldb/peers/list')
/** Query for the replication slots of a peer. */
export const slotsQuery = (peer: string) =>
  createRouteQuery(repldbKey, 'GET /api/v1/repldb/peers/slots/{peer}', { path: { peer } })
/** Query for the statements that the replication service runs on a peer. */
export const peerStatsQuery = (peer: string) =>
  createRouteQuery(repldbKey, 'GET /api/v1/repldb/peers/stats/{peer}', { path: { peer } })
/** Query for the lag of a replication slot over time. */
export const slotLagQuery = (
  peerName: string,
  slotName: string,
  timeSince: RouteBody<'POST /api/v1/repldb/peers/slots/lag_history'>['timeSince'],
) =>
  createRouteQuery(repldbKey, 'POST /api/v1/repldb/peers/slots/lag_history', {
    body: { peerName, slotName, timeSince },
  })
