import type { Body } from './call.ts'
import { routeQuery } from './route-query.ts'

const about = ['repldb']

/** Whether the replication service answers. */
export const repldbStatusQuery = () => routeQuery(about, 'GET /api/v1/repldb-status')
/** All mirrors with state, lag and throughput. */
export const mirrorsQuery = () => routeQuery(about, 'GET /api/v1/repldb/overview')
/** What one mirror is doing. */
export const mirrorStatusQuery = (flowJobName: string) =>
  routeQuery(about, 'POST /api/v1/repldb/mirrors/status', {
    body: { flowJobName, includeFlowInfo: true, excludeBatches: true },
  })
/** Rows that one mirror has written, all together. */
export const rowsSyncedQuery = (mirror: string) =>
  routeQuery(about, 'GET /api/v1/repldb/mirrors/total_rows_synced/{mirror}', { path: { mirror } })
/** The same by table and kind of change. */
export const tableCountsQuery = (mirror: string) =>
  routeQuery(about, 'GET /api/v1/repldb/mirrors/cdc/table_total_counts/{mirror}', { path: { mirror } })
/** The same by time. */
export const mirrorGraphQuery = (
  flowJobName: string,
  aggregateType: Body<'POST /api/v1/repldb/mirrors/cdc/graph'>['aggregateType'],
) => routeQuery(about, 'POST /api/v1/repldb/mirrors/cdc/graph', { body: { flowJobName, aggregateType } })
/** Its last batches. */
export const batchesQuery = (flowJobName: string) =>
  routeQuery(about, 'POST /api/v1/repldb/mirrors/cdc/batches', { body: { flowJobName, limit: 100 } })
/** Patterns of the latest lines of one mirror, or of all. */
export const logPatternsQuery = (
  mirror: string | undefined,
  level: Body<'POST /api/v1/repldb/mirrors/logs'>['level'],
) => routeQuery(about, 'GET /api/v1/repldb/log-patterns', { query: { level, mirror } })
/** The lines themselves. */
export const logLinesQuery = (mirror: string | undefined, level: Body<'POST /api/v1/repldb/mirrors/logs'>['level']) =>
  routeQuery(about, 'POST /api/v1/repldb/mirrors/logs', {
    body: { flowJobName: mirror ?? '', level, numPerPage: 100 },
  })
/** The databases that are read and written. */
export const peersQuery = () => routeQuery(about, 'GET /api/v1/repldb/peers/list')
/** Replication slots of one of them. */
export const slotsQuery = (peer: string) =>
  routeQuery(about, 'GET /api/v1/repldb/peers/slots/{peer}', { path: { peer } })
/** What the replication service runs there. */
export const peerStatsQuery = (peer: string) =>
  routeQuery(about, 'GET /api/v1/repldb/peers/stats/{peer}', { path: { peer } })
/** How far a slot was behind. */
export const slotLagQuery = (
  peerName: string,
  slotName: string,
  timeSince: Body<'POST /api/v1/repldb/peers/slots/lag_history'>['timeSince'],
) => routeQuery(about, 'POST /api/v1/repldb/peers/slots/lag_history', { body: { peerName, slotName, timeSince } })
