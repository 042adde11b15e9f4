import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RepldbBatches, RepldbMirrors } from '#proto/repldb-api.ts'
import { type RepldbMirror, type RepldbOverview, maxRepldbMirrors, repldbMirrorStates } from '#proto/repldb.ts'
import type { ReplicationServiceClient } from './client.ts'
import { replicationEndpoints } from './endpoints.ts'
import { fetchErrorCounts } from './log-patterns.ts'

type Listed = z.output<typeof RepldbMirrors>['mirrors'][number]
type Batch = z.output<typeof RepldbBatches>['cdcBatches'][number]
type State = RepldbMirror['state']

/** Maximum concurrent requests. */
const maxConcurrentRequests = 8
/** Number of batches from which throughput and lag are computed. */
const maxBatches = 20

/** Returns all mirrors with their state. A mirror whose request fails does not affect the others. */
export const readMirrorOverview = async (
  service: ReplicationServiceClient,
  call: CallContext,
  nowMs: number,
): Promise<RepldbOverview> => {
  const [{ mirrors: listed }, errors] = await Promise.all([
    service.callApi(replicationEndpoints.mirrors, {}, call),
    fetchErrorCounts(service, call, nowMs).catch(replaceFailureWith(null)),
  ])
  const mirrors: RepldbMirror[] = []
  const withoutStatus: string[] = []
  const requested = listed.slice(0, maxRepldbMirrors)
  for (let begin = 0; begin < requested.length; begin += maxConcurrentRequests) {
    const statuses = await Promise.all(
      requested.slice(begin, begin + maxConcurrentRequests).map((each) => fetchMirror(service, each, call, nowMs)),
    )
    for (const { mirror, hasStatus } of statuses) {
      mirrors.push({ ...mirror, errorsLastHour: errors === null ? null : (errors.get(mirror.name) ?? 0) })
      if (!hasStatus) withoutStatus.push(mirror.name)
    }
  }
  return { mirrors: mirrors.toSorted(worstFirst), total: listed.length, withoutStatus }
}

/** Returns a `catch` callback that replaces a failed request by a value and rethrows other errors. */
const replaceFailureWith =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof ServiceError) return instead
    throw error
  }

type MirrorStatus = Omit<RepldbMirror, 'errorsLastHour'>

const fetchMirror = async (
  service: ReplicationServiceClient,
  listed: Listed,
  call: CallContext,
  nowMs: number,
): Promise<{ mirror: MirrorStatus; hasStatus: boolean }> => {
  const ofMirror = { flowJobName: listed.name }
  const failed = replaceFailureWith(undefined)
  const [status, batches] = await Promise.all([
    service
      .callApi(replicationEndpoints.mirrorStatus, { body: { ...ofMirror, includeFlowInfo: false } }, call)
      .catch(failed),
    listed.isCdc
      ? service
          .callApi(replicationEndpoints.batches, { body: { ...ofMirror, limit: maxBatches, ...newestFirst } }, call)
          .catch(failed)
      : undefined,
  ])
  const mirror = {
    name: listed.name,
    kind: listed.isCdc ? ('cdc' as const) : ('query' as const),
    source: { name: listed.sourceName, type: listed.sourceType },
    destination: { name: listed.destinationName, type: listed.destinationType },
    createdAtMs: listed.createdAt,
    state: stateOf(status?.currentFlowState ?? ''),
    ...rates(batches?.cdcBatches ?? [], nowMs),
  }
  return { mirror, hasStatus: status !== undefined }
}

const newestFirst = { ascending: false, beforeId: -1, afterId: -1 }

/** Maps `STATUS_RUNNING` to `running`, and unknown values to `unknown`. */
const stateOf = (status: string): State =>
  repldbMirrorStates.find((state) => `STATUS_${state.toUpperCase()}` === status) ?? 'unknown'

/** Derives throughput and lag from the latest batches, in any order. */
const rates = (
  batches: readonly Batch[],
  nowMs: number,
): Pick<RepldbMirror, 'lastSyncAtMs' | 'lagSeconds' | 'rowsPerSecond'> => {
  const timed = batches.map(({ batchId, numRows, startTime, endTime }) => ({
    batchId,
    numRows,
    beganMs: instantOf(startTime),
    endedMs: instantOf(endTime),
  }))
  const newest = timed.reduce<(typeof timed)[number] | undefined>(
    (best, each) => (best === undefined || each.batchId > best.batchId ? each : best),
    undefined,
  )
  const ended = timed.flatMap(({ numRows, beganMs, endedMs }) =>
    endedMs === null ? [] : [{ rows: numRows, endedMs, tookMs: beganMs === null ? 0 : endedMs - beganMs }],
  )
  const tookMs = ended.reduce((sum, batch) => sum + batch.tookMs, 0)
  const rows = ended.reduce((sum, batch) => sum + batch.rows, 0)
  return {
    lastSyncAtMs: ended.length === 0 ? null : Math.max(...ended.map(({ endedMs }) => endedMs)),
    lagSeconds: newest === undefined ? null : lagOf(newest, nowMs),
    rowsPerSecond: tookMs > 0 ? (rows * 1_000) / tookMs : null,
  }
}

const lagOf = (
  { beganMs, endedMs }: { beganMs: number | null; endedMs: number | null },
  nowMs: number,
): number | null => {
  if (endedMs !== null) return 0
  return beganMs === null ? null : Math.max(0, Math.round((nowMs - beganMs) / 1_000))
}

const instantOf = (text: string | null): number | null => {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

const stateSeverityOrder: readonly State[] = ['failed', 'terminated', 'terminating', 'unknown', 'paused', 'pausing']

const worstFirst = (one: RepldbMirror, other: RepldbMirror): number =>
  rank(one.state) - rank(other.state) ||
  (other.lagSeconds ?? 0) - (one.lagSeconds ?? 0) ||
  one.name.localeCompare(other.name)

const rank = (state: State): number => {
  const position = stateSeverityOrder.indexOf(state)
  return position === -1 ? stateSeverityOrder.length : position
}

/** The progress of a mirror's initial snapshot. */
interface Copy {
  mirror: string
  /** Copied parts and rows, which only grow during a snapshot. */
  done: number
}

const maxCopies = 50

/** Returns the progress of every mirror in its snapshot. */
export const readSnapshotProgress = async (
  service: ReplicationServiceClient,
  call: CallContext,
  nowMs: number,
): Promise<Copy[]> => {
  const { mirrors } = await readMirrorOverview(service, call, nowMs)
  const copying = mirrors.filter(({ state }) => state === 'snapshot').slice(0, maxCopies)
  return Promise.all(
    copying.map(async ({ name }) => {
      const { tableSummaries } = await service.callApi(replicationEndpoints.initialLoad, { name }, call)
      const done = tableSummaries.reduce((sum, table) => sum + table.numPartitionsCompleted + table.numRowsSynced, 0)
      return { mirror: name, done }
    }),
  )
}

/** The progress of snapshots by mirror. `sinceMs` is the time of the last change. */
type Progress = Readonly<Record<string, { done: number; sinceMs: number }>>

/** Updates the progress of snapshots and drops finished ones. */
export const updateSnapshotProgress = (copies: readonly Copy[], before: Progress, nowMs: number): Progress =>
  Object.fromEntries(
    copies.map(({ mirror, done }) => {
      const known = before[mirror]
      return [mirror, known?.done === done ? known : { done, sinceMs: nowMs }]
    }),
  )
