import type { Interval } from '#proto/catalogue.ts'
import type { TimeWindowParameters } from '#lib/api/queries.ts'

/** Read-only URL parameters. */
export type ReadableParameters = Pick<URLSearchParams, 'get' | 'getAll'>

/** A time range of the URL: the last hours, or two instants in epoch seconds. */
export type TimeRange = { kind: 'last'; hours: number } | { kind: 'between'; from: number; to: number }

export const defaultHours = 24
const maxHours = 8760

/** Preset ranges, in hours. */
export const rangePresets: readonly { hours: number; short: string; label: string }[] = [
  { hours: 1, short: '1h', label: 'Last hour' },
  { hours: 3, short: '3h', label: 'Last 3 hours' },
  { hours: 6, short: '6h', label: 'Last 6 hours' },
  { hours: 12, short: '12h', label: 'Last 12 hours' },
  { hours: 24, short: '24h', label: 'Last 24 hours' },
  { hours: 48, short: '2d', label: 'Last 2 days' },
  { hours: 168, short: '7d', label: 'Last 7 days' },
  { hours: 336, short: '14d', label: 'Last 14 days' },
  { hours: 720, short: '30d', label: 'Last 30 days' },
  { hours: 2160, short: '90d', label: 'Last 90 days' },
]

/** Parses `range=6h`, `range=7d` or `from=…&to=…`; returns null for anything else. */
export const readRange = (parameters: ReadableParameters): TimeRange | null => {
  const [from, to] = [Number(parameters.get('from')), Number(parameters.get('to'))]
  if (Number.isInteger(from) && Number.isInteger(to) && from > 0 && to > from) return { kind: 'between', from, to }
  const parts = /^(\d{1,4})([hd])$/.exec(parameters.get('range') ?? '')
  const hours = parts ? Number(parts[1]) * (parts[2] === 'd' ? 24 : 1) : 0
  return hours >= 1 && hours <= maxHours ? { kind: 'last', hours } : null
}

/** Returns the URL parameters of a range. Null removes a parameter; all are null for the default range of the page. */
export const writeRange = (range: TimeRange, pageHours: number): Record<'range' | 'from' | 'to', string | null> => {
  if (range.kind === 'between') return { range: null, from: String(range.from), to: String(range.to) }
  return { range: range.hours === pageHours ? null : formatHours(range.hours), from: null, to: null }
}

export const formatHours = (hours: number): string => (hours > 24 && hours % 24 === 0 ? `${hours / 24}d` : `${hours}h`)

export const toWindow = (range: TimeRange): TimeWindowParameters =>
  range.kind === 'last' ? { lastHours: range.hours } : { from: range.from, to: range.to }

const hourSeconds = 3600

export const getRangeSeconds = (range: TimeRange): number =>
  range.kind === 'last' ? range.hours * hourSeconds : range.to - range.from

/** Maximum range in hours for each bucket size. A chart gets at most 360 points. */
const maxHoursByInterval: readonly [hours: number, interval: Interval][] = [
  [3, 'toStartOfMinute'],
  [12, 'toStartOfFiveMinutes'],
  [26, 'toStartOfTenMinutes'],
  [50, 'toStartOfFifteenMinutes'],
  [24 * 15, 'toStartOfHour'],
  [24 * 120, 'toStartOfDay'],
]

/** Returns the bucket size for a range. */
export const selectInterval = (range: TimeRange): Interval => {
  const hours = getRangeSeconds(range) / hourSeconds
  return maxHoursByInterval.find(([limit]) => hours <= limit)?.[1] ?? 'toStartOfWeek'
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
  if (range.kind === 'last') return { kind: 'last', hours: Math.min(maxHours, range.hours * 2) }
  const to = Math.min(Math.floor(nowMs / 1000), range.to + Math.round(length / 2))
  return { kind: 'between', from: Math.max(1, to - length * 2), to }
}
