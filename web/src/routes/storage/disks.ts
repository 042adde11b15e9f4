import type { Row } from '#proto/query.ts'
import type { Forecast } from '#lib/api/insights.ts'
import { readNumber } from '#lib/chart/series.ts'
import { span } from '#lib/ui/number.ts'
import { formatDate, readInstant } from '#lib/ui/time.ts'

/** One disk of a host as it is now. */
export interface Disk {
  name: string
  type: string
  path: string
  used: number
  free: number
  /** Left alone by the server. */
  kept: number
  /** Null where the server knows no end of it, as of object stores. */
  total: number | null
}

/** What was used of a disk at an instant. */
export interface Used {
  timeMs: number
  bytes: number
}

export type Standing = 'ok' | 'warning' | 'critical' | 'unknown'

const dayMs = 86_400_000
/** Object stores claim sizes beyond any disk. */
const endless = 2 ** 60
/** From where on the rules warn and alarm by default: of what is used in percent, and of the days that are left. */
const limits = { warning: { percent: 80, days: 14 }, critical: { percent: 90, days: 3 } }
/** A date so far away says nothing. */
const farDays = 730
/** So few are told by the hour. */
const fewDays = 3

export const readDisks = (rows: readonly Row[]): Disk[] =>
  rows.map((row) => {
    const total = readNumber(row['total'])
    return {
      name: String(row['disk']),
      type: String(row['type']),
      path: String(row['path']),
      used: readNumber(row['used']) ?? 0,
      free: readNumber(row['free']) ?? 0,
      kept: readNumber(row['reserved']) ?? 0,
      total: total !== null && total > 0 && total < endless ? total : null,
    }
  })

export const percentUsed = ({ used, total }: Disk): number | null => (total === null ? null : (100 * used) / total)

/** How bad it is, by what is used and by what is left. */
export const standingOf = (disk: Disk, forecast: Forecast | undefined): Standing => {
  const percent = percentUsed(disk)
  if (percent === null) return 'unknown'
  const days = forecast?.days?.soonest ?? Number.POSITIVE_INFINITY
  const passes = (limit: { percent: number; days: number }) => percent >= limit.percent || days <= limit.days
  return passes(limits.critical) ? 'critical' : passes(limits.warning) ? 'warning' : 'ok'
}

/** What was used of each disk, in order of time. */
export const readHistory = (rows: readonly Row[]): ReadonlyMap<string, Used[]> => {
  const told = rows.flatMap((row) => {
    const [timeMs, bytes] = [readInstant(row['time']), readNumber(row['used_bytes'])]
    return timeMs === null || bytes === null ? [] : [{ disk: String(row['disk']), timeMs, bytes }]
  })
  return Map.groupBy(
    told.toSorted((one, other) => one.timeMs - other.timeMs),
    ({ disk }) => disk,
  )
}

/** By how much a disk has grown in so many days; null where its history does not reach back so far. */
export const grownIn = (days: number, history: readonly Used[]): number | null => {
  const last = history.at(-1)
  const before = last && history.findLast(({ timeMs }) => timeMs <= last.timeMs - days * dayMs)
  return last && before ? last.bytes - before.bytes : null
}

/** When a disk is full, as days of a calendar: `2 Dec 2026 to 9 Dec 2026`. */
export const fullBetween = ({ days }: Forecast, nowMs: number, zone: string): string => {
  if (!days) return 'not filling up'
  if (days.soonest > farDays) return 'not within two years'
  const dates = [days.soonest, Math.min(days.latest, farDays)].map((day) => formatDate(nowMs + day * dayMs, zone))
  return dates[0] === dates[1] ? `about ${dates[0]}` : dates.join(' to ')
}

/** How long that is from now, rather too soon than too late: `in 24 to 30 days`, `in 7h 12m to 9h`. */
export const fullIn = ({ days }: Forecast): string => {
  if (!days || days.soonest > farDays) return ''
  if (days.latest > farDays) return `in ${Math.floor(days.soonest)} days to over two years`
  if (days.soonest >= fewDays) {
    const [soonest, latest] = [Math.floor(days.soonest), Math.ceil(days.latest)]
    return days.soonest === days.latest ? `in ${soonest} days` : `in ${soonest} to ${latest} days`
  }
  const [soonest, latest] = [days.soonest, days.latest].map((day) => span(Math.max(60, (day * dayMs) / 1_000)))
  return soonest === latest ? `in ${soonest}` : `in ${soonest} to ${latest}`
}

/** How the space of a disk is divided, in percent: what is used, what is kept, what is left to use. */
export const divided = (disk: Disk): { used: number; kept: number; left: number } => {
  const total = disk.total ?? 1
  const kept = Math.min(disk.kept, disk.free)
  return {
    used: (100 * disk.used) / total,
    kept: (100 * kept) / total,
    left: (100 * Math.max(0, disk.free - kept)) / total,
  }
}
