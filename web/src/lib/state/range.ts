import type { Interval } from '#proto/catalogue.ts'
import type { WindowQuery } from '#lib/api/queries.ts'

/** Parameters of a URL, to read only. */
export type ReadableParameters = Pick<URLSearchParams, 'get' | 'getAll'>

/** A time range as the URL states it: the last hours up to now, or two instants in epoch seconds. */
export type Range = { kind: 'last'; hours: number } | { kind: 'between'; from: number; to: number }

export const defaultHours = 24
const longestHours = 8760

/** The ranges offered with one press, in hours. */
export const presets: readonly { hours: number; short: string; label: string }[] = [
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

/** Reads `range=6h`, `range=7d` or `from=…&to=…`; null for anything else. */
export const readRange = (parameters: ReadableParameters): Range | null => {
  const [from, to] = [Number(parameters.get('from')), Number(parameters.get('to'))]
  if (Number.isInteger(from) && Number.isInteger(to) && from > 0 && to > from) return { kind: 'between', from, to }
  const parts = /^(\d{1,4})([hd])$/.exec(parameters.get('range') ?? '')
  const hours = parts ? Number(parts[1]) * (parts[2] === 'd' ? 24 : 1) : 0
  return hours >= 1 && hours <= longestHours ? { kind: 'last', hours } : null
}

/** The parameters that state a range in the URL; null removes one, as the range that is usual where the reader is needs none. */
export const writeRange = (range: Range, usualHours: number): Record<'range' | 'from' | 'to', string | null> => {
  if (range.kind === 'between') return { range: null, from: String(range.from), to: String(range.to) }
  return { range: range.hours === usualHours ? null : shortHours(range.hours), from: null, to: null }
}

export const shortHours = (hours: number): string => (hours > 24 && hours % 24 === 0 ? `${hours / 24}d` : `${hours}h`)

export const toWindow = (range: Range): WindowQuery =>
  range.kind === 'last' ? { lastHours: range.hours } : { from: range.from, to: range.to }

const hourSeconds = 3600

export const spanSeconds = (range: Range): number =>
  range.kind === 'last' ? range.hours * hourSeconds : range.to - range.from

/** Widest span, in hours, that each bucket is drawn for: some 30 to 360 points across a card. */
const widest: readonly [hours: number, interval: Interval][] = [
  [3, 'toStartOfMinute'],
  [12, 'toStartOfFiveMinutes'],
  [26, 'toStartOfTenMinutes'],
  [50, 'toStartOfFifteenMinutes'],
  [24 * 15, 'toStartOfHour'],
  [24 * 120, 'toStartOfDay'],
]

/** The bucket in which a range is drawn. */
export const intervalOf = (range: Range): Interval => {
  const hours = spanSeconds(range) / hourSeconds
  return widest.find(([limit]) => hours <= limit)?.[1] ?? 'toStartOfWeek'
}

/** The same length of time, moved by parts of itself: -1 is the range before. Never beyond now. */
export const shifted = (range: Range, parts: number, nowMs: number): Range => {
  const [length, now] = [spanSeconds(range), Math.floor(nowMs / 1000)]
  const to = Math.min(now, (range.kind === 'between' ? range.to : now) + Math.round(parts * length))
  return to === now && range.kind === 'last' ? range : { kind: 'between', from: to - length, to }
}

/** Twice as long around the same middle; up to now where that would lie ahead. */
export const zoomedOut = (range: Range, nowMs: number): Range => {
  const length = spanSeconds(range)
  if (range.kind === 'last') return { kind: 'last', hours: Math.min(longestHours, range.hours * 2) }
  const to = Math.min(Math.floor(nowMs / 1000), range.to + Math.round(length / 2))
  return { kind: 'between', from: Math.max(1, to - length * 2), to }
}
