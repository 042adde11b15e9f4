import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { Store } from '#shared/store/store.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { HostRegistry } from '../hosts/hosts.ts'
import type { Probe } from '../status/probe.ts'
import { recordObjects } from './objects.ts'
import type { RecordedMetrics } from './recorded-metrics.ts'
import { type Period, type Source, type SourceContext, sources } from './sources.ts'
import type { HistoryStore } from './store.ts'
import { recordWorkload } from './workload.ts'
import { insertBatch, insertGap, type Watermark, watermarkKey, type Watermarks } from './watermarks.ts'

const hostTimeoutMs = 60_000
const hourSeconds = 3_600
const weekSeconds = 7 * 24 * hourSeconds
/** Epoch seconds of the first Monday. Partitions of the history begin on Mondays. */
const firstMonday = 4 * 24 * hourSeconds
/** A batch has at least this length, so that a host is recorded once a minute. */
const minBatchSeconds = 45
/** Maximum length of a batch. Longer outages are caught up in several batches. */
const maxBatchSeconds = 600
/** How far the history of a new host reaches back. */
const firstBatchSeconds = hourSeconds
/** A server writes its logs every 7.5 seconds by default. */
const flushSeconds = 10
/** The longest time that a server without new rows in a log is assumed to need for writing it. */
const maxFlushSeconds = 120
/** A watermark that is further ahead of the host means that the clock of the host was set back. */
const maxAheadSeconds = 60

/** The dependencies of the recorder. */
export interface RecorderDeps {
  client: DatabaseClient
  clock: Clock
  history: HistoryStore
  recorded: RecordedMetrics
  hosts: HostRegistry
  probe: Probe
  store: Store
  telemetry: Telemetry
}

/** Returns the call of a recorder, with the lowest priority. */
export const createRecorderCall = ({ clock }: Pick<RecorderDeps, 'clock'>, signal: AbortSignal): CallContext => ({
  identity: { kind: 'service', subject: 'history', features: 'all' },
  deadline: clock.elapsedMs() + hostTimeoutMs,
  signal,
  priority: 'report',
})

/** How far a host is recorded, in epoch seconds of its clock. */
export interface HostProgress {
  now: number
  until: number
  /** Whether the logs of the host contain more than the last batch recorded. */
  isBehind: boolean
  rows: number
}

/** Records one batch of each source of a host that is due. */
export const recordHost = async (
  deps: RecorderDeps,
  host: MonitoredHost,
  marks: Watermarks,
  call: CallContext,
): Promise<HostProgress> => {
  const context: SourceContext = { client: deps.client, host, recorded: deps.recorded, call }
  const clock = await readHostClock(context)
  const progress: HostProgress = { now: clock.now, until: clock.now, isBehind: false, rows: 0 }
  for (const source of sources) {
    call.signal.throwIfAborted()
    const mark = marks.get(watermarkKey(host.key, source.name))
    const done = await recordSource(deps, context, source, { mark, clock })
    progress.rows += done.rows
    progress.isBehind ||= done.isBehind
    if (source.log !== undefined) progress.until = Math.min(progress.until, done.until)
  }
  if (!progress.isBehind) {
    const before = marks.get(watermarkKey(host.key, 'workload'))
    const end = { before, until: progress.until, recordedMs: deps.clock.now() }
    progress.rows += await recordWorkload(deps.history, host.key, end)
  }
  const objectsMark = marks.get(watermarkKey(host.key, 'objects'))
  progress.rows += await recordObjects(deps.history, context, objectsMark, deps.clock.now())
  return progress
}

interface SourceProgress {
  until: number
  isBehind: boolean
  rows: number
}

const recordSource = async (
  { history, clock: ownClock }: RecorderDeps,
  context: SourceContext,
  source: Source,
  { mark, clock }: { mark: Watermark | undefined; clock: HostClock },
): Promise<SourceProgress> => {
  const { key } = context.host
  const end = findEnd(source, clock)
  const idle = { until: mark?.until ?? end, isBehind: false, rows: 0 }
  const next = planBatch(source, mark, { end, now: clock.now })
  if (!next) return idle
  const start = end - next.from > maxBatchSeconds ? await readLogStart(context, source) : undefined
  const isRotated = start !== undefined && start > next.from
  if (isRotated && end - start < minBatchSeconds) return idle
  if (isRotated && mark) await insertGap(history, key, source.name, { from: next.from, until: start })
  const period = isRotated ? limitBatch(start, end) : next
  const rows = await source.read(context, period)
  context.call.signal.throwIfAborted()
  await insertBatch(history, { host: key, source, before: mark, period, rows, recordedMs: ownClock.now() })
  return { until: period.until, isBehind: end - period.until >= minBatchSeconds, rows: rows.length }
}

/** Returns the end of what a source has certainly written. */
const findEnd = (source: Source, { now, newest }: HostClock): number => {
  if (source.log === undefined) return Math.floor(now / hourSeconds) * hourSeconds
  const written = Math.max(newest[source.log] ?? 0, now - maxFlushSeconds)
  return Math.min(now - flushSeconds, written)
}

/** Returns the next batch of a source; undefined if none is due. Exported for tests. */
export const planBatch = (
  source: Pick<Source, 'log'>,
  mark: Watermark | undefined,
  { end, now }: { end: number; now: number },
): Period | undefined => {
  if (source.log === undefined)
    return mark && mark.until >= end && mark.until <= now ? undefined : { from: end, until: end }
  const isAhead = mark !== undefined && mark.until > now + maxAheadSeconds
  const from = mark === undefined ? end - firstBatchSeconds : isAhead ? end - minBatchSeconds : mark.until
  return end - from < minBatchSeconds ? undefined : limitBatch(from, end)
}

/** Returns a batch of limited length that lies in one partition, so that it is inserted as one part. */
const limitBatch = (from: number, end: number): Period => {
  const monday = firstMonday + (Math.floor((from - firstMonday) / weekSeconds) + 1) * weekSeconds
  return { from, until: Math.min(end, from + maxBatchSeconds, monday) }
}

/** The clock of a host, and the newest row of each log in epoch seconds; 0 for a log without recent rows. */
interface HostClock {
  now: number
  newest: Partial<Record<string, number>>
}

const logs = ['metric_log', 'query_log', 'text_log'] as const
const ClockRow = z.tuple([z.number()]).rest(z.coerce.number())

const readHostClock = async ({ client, host, call }: SourceContext): Promise<HostClock> => {
  const { tables } = await client.capabilities(host, call)
  const present = logs.filter((log) => tables.has(log))
  const newest = present.map(
    (log) =>
      `(SELECT toUnixTimestamp(max(event_time)) FROM system.${log} WHERE event_date >= toDate(now() - ${maxFlushSeconds}) AND event_time > now() - ${maxFlushSeconds})`,
  )
  const sql = `SELECT ${['toUnixTimestamp(now())', ...newest].join(', ')}`
  const { rows } = await client.run(host, { what: 'history/clock', sql }, call)
  const [now, ...times] = ClockRow.parse(rows[0])
  return { now, newest: Object.fromEntries(present.map((log, index) => [log, times[index]])) }
}

/** Returns the time of the oldest row of a log in epoch seconds; undefined for an empty log. */
export const readLogStart = async (
  { client, host, call }: Pick<SourceContext, 'client' | 'host' | 'call'>,
  { log }: { log: string | undefined },
): Promise<number | undefined> => {
  if (log === undefined) return undefined
  const { logs: rotated, tables } = await client.capabilities(host, call)
  if (!tables.has(log)) return undefined
  const table = rotated.get(log) ?? `system.${log}`
  const sql = `SELECT toUnixTimestamp(min(event_time)) FROM ${table} WHERE event_date = (SELECT min(event_date) FROM ${table})`
  const { rows } = await client.run(host, { what: 'history/log-start', sql }, call)
  const start = Number(rows[0]?.[0] ?? 0)
  return start > 0 ? start : undefined
}
