import { z } from 'zod'
import { compareObjects, type KnownObject, objectKey, type ObjectState, readKnownObjects } from './known-objects.ts'
import type { HistoryStore } from './store.ts'
import { insertBatch, type Watermark } from './watermarks.ts'

const evaluationSeconds = 600
/** Patterns that did not run for this time are left as they are known. */
const lookbackSeconds = 6 * 86_400
const maxPatterns = 2_000
/** Fewer calls are those of a person, which come and go. */
const minCalls = 10
/** A pattern with fewer minutes, or over less time, has no rhythm whose end is noticed. */
const minMinutes = 30
const minSpanSeconds = 1_800
/** A pattern has vanished if it did not run for this time, or for this multiple of its longest pause if that is longer. */
const minSilenceSeconds = 900
const silenceFactor = 4
const bucketSeconds = 300
const buckets = 3
/** A level has shifted if every bucket is above or below it by this factor, and by the minimum of the measure. */
const shiftFactor = 2

/** What is compared per minute, with the difference below which a shift is none. */
const measures = [
  { name: 'queries a minute', column: 'calls', minDifference: 10 },
  { name: 'CPU seconds a minute', column: 'cpu', minDifference: 6 },
] as const

const kinds = ['query-pattern', 'workload']

/**
 * Records new and vanished query patterns and shifts of the workload of a host, from its history up to `until`. Returns
 * the number of recorded rows.
 */
export const recordWorkload = async (
  history: HistoryStore,
  host: string,
  { before, until, recordedMs }: { before: Watermark | undefined; until: number; recordedMs: number },
): Promise<number> => {
  if (before && until >= before.until && until - before.until < evaluationSeconds) return 0
  const upMinutes = await readUpMinutes(history, host, until)
  const known = await readKnownObjects(history, host, kinds)
  const patterns = await readPatterns(history, host, until)
  const objects = new Map<string, ObjectState>(kinds.map((kind) => [objectKey(kind, ''), { definition: '' }]))
  const vanished = new Map<string, number>()
  for (const pattern of patterns) {
    const key = objectKey('query-pattern', pattern.name)
    const last = known.get(key)
    const isKnown = last !== undefined && last.removed === 0
    if (isVanished(pattern, upMinutes)) vanished.set(key, pattern.last)
    else if (isKnown || pattern.total >= minCalls)
      objects.set(key, { definition: isKnown ? last.last : pattern.definition, changedAt: beganAt(pattern, last) })
  }
  for (const [key, level] of await readLevels(history, host, { until, upMinutes, known })) objects.set(key, level)
  const removedAt = ({ kind, name }: KnownObject) => vanished.get(objectKey(kind, name))
  const rows = compareObjects({ objects, known, removedAt, now: until })
  const source = { name: 'workload', table: 'objects' } as const
  await insertBatch(history, { host, source, before, period: { from: until, until }, rows, recordedMs })
  return rows.length
}

/** Returns the minutes in which the host was up and recorded, in epoch seconds, sorted. */
const readUpMinutes = async (history: HistoryStore, host: string, until: number): Promise<number[]> => {
  const rows = await history.select(
    `SELECT arraySort(groupUniqArray(toUnixTimestamp(toStartOfMinute(time)))) AS minutes FROM {table:samples}
WHERE host = {host:String} AND metric = 'CurrentMetric_MemoryTracking' AND time >= toDateTime({from:UInt32}) AND time < toDateTime({until:UInt32})`,
    z.object({ minutes: z.array(z.number()) }),
    { host, from: until - lookbackSeconds, until },
  )
  return rows[0]?.minutes ?? []
}

const Pattern = z.object({
  name: z.string(),
  definition: z.string(),
  total: z.number(),
  minutes: z.number(),
  first: z.number(),
  last: z.number(),
  gap: z.number(),
  resumed: z.number(),
})
type Pattern = z.infer<typeof Pattern>

const readPatterns = (history: HistoryStore, host: string, until: number): Promise<Pattern[]> =>
  history.select(
    `WITH arraySort(groupUniqArray(toUnixTimestamp(time))) AS times, arrayDifference(times) AS pauses
SELECT toString(hash) AS name, any(pattern) AS definition, sum(calls) AS total, length(times) AS minutes,
  times[1] AS first, times[-1] AS last, arrayMax(pauses) AS gap,
  arrayFilter((moment, pause) -> pause > ${minSilenceSeconds}, times, pauses)[-1] AS resumed
FROM {table:query_patterns}
WHERE host = {host:String} AND hash != 0 AND query_patterns.kind IN ('Select', 'Insert') AND time >= toDateTime({from:UInt32}) AND time < toDateTime({until:UInt32})
GROUP BY hash
ORDER BY sum(duration_ms) DESC, hash
LIMIT ${maxPatterns}`,
    Pattern,
    { host, from: until - lookbackSeconds, until },
  )

/** Only minutes in which the host was up count as silence. */
const isVanished = ({ minutes, first, last, gap }: Pattern, upMinutes: readonly number[]): boolean => {
  if (minutes < minMinutes || last - first < minSpanSeconds) return false
  const silence = 60 * upMinutes.filter((minute) => minute > last).length
  return silence > Math.max(minSilenceSeconds, silenceFactor * gap)
}

/** Returns when a pattern first ran, or ran again after it had vanished. */
const beganAt = ({ first, resumed }: Pattern, last: KnownObject | undefined): number =>
  last === undefined || resumed === 0 ? first : resumed

const Bucket = z.object({ at: z.number(), calls: z.number(), cpu: z.number() })
type Bucket = z.infer<typeof Bucket>

interface LevelRequest {
  until: number
  upMinutes: readonly number[]
  known: ReadonlyMap<string, KnownObject>
}

/** Returns the levels of all measures. A level stays as it is known until it shifts. */
const readLevels = async (
  history: HistoryStore,
  host: string,
  { until, upMinutes, known }: LevelRequest,
): Promise<Map<string, ObjectState>> => {
  const end = until - (until % bucketSeconds)
  const from = end - buckets * bucketSeconds
  const up = upMinutes.filter((minute) => minute >= from && minute < end).length
  // A host that was down or restarted meanwhile has no comparable level.
  const isComparable = up >= (buckets * bucketSeconds) / 60 - 1
  const found = isComparable ? await readBuckets(history, host, { from, end }) : []
  const levels = new Map<string, ObjectState>()
  for (const { name, column, minDifference } of measures) {
    const key = objectKey('workload', name)
    const last = known.get(key)
    const values = found.map((bucket) => bucket[column])
    const shifted = findShift(values, last && Number(last.last), minDifference)
    if (shifted !== undefined) levels.set(key, { definition: formatLevel(shifted), changedAt: last && from })
    else if (last) levels.set(key, { definition: last.last })
  }
  return levels
}

/** Returns the values per minute of every bucket, also of those without queries. */
const readBuckets = async (
  history: HistoryStore,
  host: string,
  { from, end }: { from: number; end: number },
): Promise<Bucket[]> => {
  const rows = await history.select(
    `SELECT toUnixTimestamp(toStartOfFiveMinutes(time)) AS at, sum(calls) / ${bucketSeconds / 60} AS calls, sum(cpu_us) / ${(1e6 * bucketSeconds) / 60} AS cpu
FROM {table:query_patterns}
WHERE host = {host:String} AND hash != 0 AND time >= toDateTime({from:UInt32}) AND time < toDateTime({end:UInt32})
GROUP BY at`,
    Bucket,
    { host, from, end },
  )
  return Array.from({ length: buckets }, (_, index) => {
    const at = from + index * bucketSeconds
    return rows.find((row) => row.at === at) ?? { at, calls: 0, cpu: 0 }
  })
}

/** Returns the new level of these buckets; undefined if it is that of before. Exported for tests. */
export const findShift = (
  values: readonly number[],
  before: number | undefined,
  minDifference: number,
): number | undefined => {
  if (values.length === 0) return undefined
  const average = values.reduce((sum, value) => sum + value, 0) / values.length
  if (before === undefined) return average
  const isAbove = values.every((value) => value > before * shiftFactor && value - before >= minDifference)
  const isBelow = values.every((value) => value < before / shiftFactor && before - value >= minDifference)
  return isAbove || isBelow ? average : undefined
}

const formatLevel = (value: number): string => String(Number(value.toPrecision(3)))
