import type { Row } from '#proto/query.ts'
import type { Forecast } from '#lib/api/insights.ts'
import { readNumber } from '#lib/chart/series.ts'
import { formatTimeSpan } from '#lib/ui/number.ts'
import { formatDate, readInstant } from '#lib/ui/time.ts'

/** The current usage of a disk. */
export interface Disk {
  name: string
  type: string
  path: string
  used: number
  free: number
  /** Bytes that ClickHouse keeps free on the disk (`keep_free_space`). */
  reserved: number
  /** Size in bytes. Null if it is unknown, as for object storage. */
  total: number | null
}

/** The used space of a disk at one time, in bytes. */
export interface UsageSample {
  timeMs: number
  bytes: number
}

export type DiskSeverity = 'ok' | 'warning' | 'critical' | 'unknown'

const dayMs = 86_400_000
/** Size from which a disk counts as unlimited. Object storage reports sizes beyond any real disk. */
const unlimitedBytes = 2 ** 60
/** Severity limits: used percent, and days until full. They equal the default thresholds of the alert rules. */
const severityLimits = { warning: { percent: 80, days: 14 }, critical: { percent: 90, days: 3 } }
/** Maximum forecast in days. Later dates are not shown. */
const maxForecastDays = 730
/** Forecasts of fewer days are shown in hours. */
const hourlyDays = 3

export const readDisks = (rows: readonly Row[]): Disk[] =>
  rows.map((row) => {
    const total = readNumber(row['total'])
    return {
      name: String(row['disk']),
      type: String(row['type']),
      path: String(row['path']),
      used: readNumber(row['used']) ?? 0,
      free: readNumber(row['free']) ?? 0,
      reserved: readNumber(row['reserved']) ?? 0,
      total: total !== null && total > 0 && total < unlimitedBytes ? total : null,
    }
  })

export const computeUsedPercent = ({ used, total }: Disk): number | null =>
  total === null ? null : (100 * used) / total

/** Returns the severity of a disk, according to its usage and forecast. */
export const evaluateDiskSeverity = (disk: Disk, forecast: Forecast | undefined): DiskSeverity => {
  const percent = computeUsedPercent(disk)
  if (percent === null) return 'unknown'
  const days = forecast?.days?.soonest ?? Number.POSITIVE_INFINITY
  const passes = (limit: { percent: number; days: number }) => percent >= limit.percent || days <= limit.days
  return passes(severityLimits.critical) ? 'critical' : passes(severityLimits.warning) ? 'warning' : 'ok'
}

/** Returns the usage history of each disk, oldest first. */
export const readDiskHistory = (rows: readonly Row[]): ReadonlyMap<string, UsageSample[]> => {
  const samples = rows.flatMap((row) => {
    const [timeMs, bytes] = [readInstant(row['time']), readNumber(row['used_bytes'])]
    return timeMs === null || bytes === null ? [] : [{ disk: String(row['disk']), timeMs, bytes }]
  })
  return Map.groupBy(
    samples.toSorted((one, other) => one.timeMs - other.timeMs),
    ({ disk }) => disk,
  )
}

/** Returns by how many bytes the usage has grown over the last `days`; null if the history is too short. */
export const computeGrowth = (days: number, history: readonly UsageSample[]): number | null => {
  const last = history.at(-1)
  const before = last && history.findLast(({ timeMs }) => timeMs <= last.timeMs - days * dayMs)
  return last && before ? last.bytes - before.bytes : null
}

/** Formats the dates between which a disk will be full, for example `2 Dec 2026 to 9 Dec 2026`. */
export const formatDiskFullDates = ({ days }: Forecast, nowMs: number, zone: string): string => {
  if (!days) return 'not filling up'
  if (days.soonest > maxForecastDays) return 'not within two years'
  const dates = [days.soonest, Math.min(days.latest, maxForecastDays)].map((day) =>
    formatDate(nowMs + day * dayMs, zone),
  )
  return dates[0] === dates[1] ? `about ${dates[0]}` : dates.join(' to ')
}

/** Formats the time until a disk is full, for example `in 24 to 30 days`; empty if more than two years. */
export const formatTimeUntilFull = ({ days }: Forecast): string => {
  if (!days || days.soonest > maxForecastDays) return ''
  if (days.latest > maxForecastDays) return `in ${Math.floor(days.soonest)} days to over two years`
  if (days.soonest >= hourlyDays) {
    const [soonest, latest] = [Math.floor(days.soonest), Math.ceil(days.latest)]
    return days.soonest === days.latest ? `in ${soonest} days` : `in ${soonest} to ${latest} days`
  }
  const [soonest, latest] = [days.soonest, days.latest].map((day) =>
    formatTimeSpan(Math.max(60, (day * dayMs) / 1_000)),
  )
  return soonest === latest ? `in ${soonest}` : `in ${soonest} to ${latest}`
}

/** Returns the used, reserved and available shares of a disk, in percent. */
export const computeDiskShares = (disk: Disk): { used: number; reserved: number; available: number } => {
  const total = disk.total ?? 1
  const reserved = Math.min(disk.reserved, disk.free)
  return {
    used: (100 * disk.used) / total,
    reserved: (100 * reserved) / total,
    available: (100 * Math.max(0, disk.free - reserved)) / total,
  }
}
