import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type {
  repldbAnswer,
  RepldbBatches,
  RepldbGraph,
  RepldbGraphRequest,
  RepldbLogPatternsAnswer,
  RepldbLogs,
  RepldbMirrorStatus,
  RepldbOverviewAnswer,
  RepldbPeers,
  RepldbPeerStats,
  RepldbRowsSynced,
  RepldbSlotLag,
  RepldbSlotLagRequest,
  RepldbSlots,
  RepldbStatusAnswer,
  RepldbTableCounts,
} from '#proto/http/repldb.ts'
import { requestJson } from './request.ts'

/** The body of an answer whose data is that of the replication service. */
type Answered<D extends z.ZodType> = z.infer<ReturnType<typeof repldbAnswer<D>>>

const ask = <Answer>(path: string, body?: object) =>
  queryOptions({
    queryKey: ['repldb', path, body ?? null],
    queryFn: ({ signal }) => requestJson<Answer>(`/api/v1/${path}`, { signal, ...(body && { body }) }),
  })
const one = (path: string, name: string) => `repldb/${path}/${encodeURIComponent(name)}`

/** Whether the replication service answers. */
export const repldbStatusQuery = () => ask<z.infer<typeof RepldbStatusAnswer>>('repldb-status')
/** All mirrors with state, lag and throughput. */
export const mirrorsQuery = () => ask<z.infer<typeof RepldbOverviewAnswer>>('repldb/overview')
/** What one mirror is doing. */
export const mirrorStatusQuery = (flowJobName: string) =>
  ask<Answered<typeof RepldbMirrorStatus>>('repldb/mirrors/status', {
    flowJobName,
    includeFlowInfo: true,
    excludeBatches: true,
  })
/** Rows that one mirror has written, all together. */
export const rowsSyncedQuery = (mirror: string) =>
  ask<Answered<typeof RepldbRowsSynced>>(one('mirrors/total_rows_synced', mirror))
/** The same by table and kind of change. */
export const tableCountsQuery = (mirror: string) =>
  ask<Answered<typeof RepldbTableCounts>>(one('mirrors/cdc/table_total_counts', mirror))
/** The same by time. */
export const mirrorGraphQuery = (
  flowJobName: string,
  aggregateType: z.input<typeof RepldbGraphRequest>['aggregateType'],
) => ask<Answered<typeof RepldbGraph>>('repldb/mirrors/cdc/graph', { flowJobName, aggregateType })
/** Its last batches. */
export const batchesQuery = (flowJobName: string) =>
  ask<Answered<typeof RepldbBatches>>('repldb/mirrors/cdc/batches', { flowJobName, limit: 100 })
/** Patterns of the latest lines of one mirror, or of all. */
export const logPatternsQuery = (mirror: string | undefined, level: string) =>
  ask<z.infer<typeof RepldbLogPatternsAnswer>>(
    `repldb/log-patterns?${new URLSearchParams({ level, ...(mirror && { mirror }) })}`,
  )
/** The lines themselves. */
export const logLinesQuery = (mirror: string | undefined, level: string) =>
  ask<Answered<typeof RepldbLogs>>('repldb/mirrors/logs', { flowJobName: mirror ?? '', level, numPerPage: 100 })
/** The databases that are read and written. */
export const peersQuery = () => ask<Answered<typeof RepldbPeers>>('repldb/peers/list')
/** Replication slots of one of them. */
export const slotsQuery = (peer: string) => ask<Answered<typeof RepldbSlots>>(one('peers/slots', peer))
/** What the replication service runs there. */
export const peerStatsQuery = (peer: string) => ask<Answered<typeof RepldbPeerStats>>(one('peers/stats', peer))
/** How far a slot was behind. */
export const slotLagQuery = (
  peerName: string,
  slotName: string,
  timeSince: z.input<typeof RepldbSlotLagRequest>['timeSince'],
) => ask<Answered<typeof RepldbSlotLag>>('repldb/peers/slots/lag_history', { peerName, slotName, timeSince })
