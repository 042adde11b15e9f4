import type { Interval } from '#proto/catalogue.ts'
import { maxHours } from '#proto/time-limits.ts'
import type { TimeWindowParameters } from '#lib/api/queries.ts'

/** Read-only URL parameters. */
export type ReadableParameters = Pick<URLSearchParams, 'get' | 'getAll'>

/** A time range of the URL: the last minutes, or two instants in epoch seconds. */
export type TimeRange = { kind: 'last'; minutes: number } | { kind: 'between'; from: number; to: number }

export const defaultMinutes = 24 * 60
const maxMinutes = maxHours * 60

/** Preset ranges, in minutes. */
export const rangePresets: readonly { minutes: number; short: string; label: string }[] = [
  { minutes: 5, short: '5m', label: 'Last 5 minutes' },
  { minutes: 15, short: '15m', label: 'Last 15 minutes' },
  { minutes: 30, short: '30m', label: 'Last 30 minutes' },
  { minutes: 60, short: '1h', label: 'Last hour' },
  { minutes: 180, short: '3h', label: 'Last 3 hours' },
  { minutes: 360, short: '6h', label: 'Last 6 hours' },
  { minutes: 720, short: '12h', label: 'Last 12 hours' },
  { minutes: 1440, short: '24h', label: 'Last 24 hours' },
  { minutes: 2880, short: '2d', label: 'Last 2 days' },
  { minutes: 10_080, short: '7d', label: 'Last 7 days' },
  { minutes: 20_160, short: '14d', label: 'Last 14 days' },
  { minutes: 43_200, short: '30d', label: 'Last 30 days' },
  { minutes: 129_600, short: '90d', label: 'Last 90 days' },
  { minutes: 262_080, short: '182d', label: 'Last 6 months' },
  { minutes: 570_240, short: '396d', label: 'Last 13 months' },
]

const minutesOf: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 }

/** Parses `range=15m`, `range=6h`, `range=7d` or `from=…&to=…`; returns null for anything else. */
export const readRange = (parameters: ReadableParameters): TimeRange | null => {
  const [from, to] = [Number(parameters.get('from')), Number(parameters.get('to'))]
  if (Number.isInteger(from) && Number.isInteger(to) && from > 0 && to > from) return { kind: 'between', from, to }
  const minutes = parseLength(parameters.get('range') ?? '')
  return minutes !== null && minutes <= maxMinutes ? { kind: 'last', minutes } : null
}

/** Parses a length such as `15m`, `6h` or `7d` to minutes; returns null for anything else. */
const parseLength = (text: string): number | null => {
  const [, count = '0', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  return Number(count) * (minutesOf[unit] ?? 0) || null
}

/** Returns the URL parameters of a range. Null removes a parameter; all are null for the default range of the page. */
export const writeRange = (range: TimeRange, pageMinutes: number): Record<'range' | 'from' | 'to', string | null> => {
  if (range.kind === 'between') return { range: null, from: String(range.from), to: String(range.to) }
  return { range: range.minutes === pageMinutes ? null : formatLength(range.minutes), from: null, to: null }
}

/** Formats a length as in the URL: `15m`, `6h`, `24h`, `7d`. */
export const formatLength = (minutes: number): string => {
  if (minutes % 60 !== 0) return `${minutes}m`
  return minutes > 1440 && minutes % 1440 === 0 ? `${minutes / 1440}d` : `${minutes / 60}h`
}

export const toWindow = (range: TimeRange): TimeWindowParameters =>
  range.kind === 'last' ? { lastMinutes: range.minutes } : { from: range.from, to: range.to }

export const getRangeSeconds = (range: TimeRange): number =>
  range.kind === 'last' ? range.minutes * 60 : range.to - range.from

/** Maximum range in minutes for each bucket size. A chart gets at most 360 points. */
const maxMinutesByInterval: readonly [minutes: number, interval: Interval][] = [
  [5, 'toStartOfFiveSeconds'],
  [15, 'toStartOfTenSeconds'],
  [30, 'toStartOfFifteenSeconds'],
  [60, 'toStartOfThirtySeconds'],
  [3 * 60, 'toStartOfMinute'],
  [12 * 60, 'toStartOfFiveMinutes'],
  [26 * 60, 'toStartOfTenMinutes'],
  [50 * 60, 'toStartOfFifteenMinutes'],
  [15 * 1440, 'toStartOfHour'],
  [120 * 1440, 'toStartOfDay'],
]

/** Returns the bucket size for a range. Charts whose source has fewer rows use a longer one. */
export const selectInterval = (range: TimeRange): Interval => {
  const minutes = getRangeSeconds(range) / 60
  return maxMinutesByInterval.find(([limit]) => minutes <= limit)?.[1] ?? 'toStartOfWeek'
}

/** Shifts a range by a multiple of its length, but not beyond now; -1 is the preceding range. */
export const shiftRange = (range: TimeRange, parts: number, nowMs: number): TimeRange => {
  const [length, now] = [getRangeSeconds(range), Math.floor(nowMs / 1000)]
  const to = Math.min(now, (range.kind === 'between' ? range.to : now) + Math.round(parts * length))
  return to === now && range.kind === 'last' ? range : { kind: 'between', from: to - length, to }
}

/** Doubles a range around its centre, but not beyond now. */
export const zoomOutRange = (range: TimeRange, nowMs: number): TimeRange => {
  const length = getRangeSeconds(range)
  if (range.kind === 'last') return { kind: 'last', minutes: Math.min(maxMinutes, range.minutes * 2) }
  const to = Math.min(Math.floor(nowMs / 1000), range.to + Math.round(length / 2))
  return { kind: 'between', from: Math.max(1, to - length * 2), to }
}
