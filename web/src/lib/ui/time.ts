import { computeZoneOffsetMs } from '#lib/state/zone.ts'
import { formatTimeSpan } from './number.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Returns a date whose UTC fields are the wall-clock time in a zone. */
const toLocalDate = (instantMs: number, zone: string): Date =>
  new Date(instantMs + computeZoneOffsetMs(instantMs, zone))

export const formatTime = (instantMs: number, zone: string): string =>
  formatTimeWithSeconds(instantMs, zone).slice(0, 5)
export const formatTimeWithSeconds = (instantMs: number, zone: string): string =>
  toLocalDate(instantMs, zone).toISOString().slice(-13, -5)
export const formatDay = (instantMs: number, zone: string): string => {
  const date = toLocalDate(instantMs, zone)
  return `${String(date.getUTCDate()).padStart(2, '0')} ${months[date.getUTCMonth()]}`
}
export const formatDayTime = (instantMs: number, zone: string): string =>
  `${formatDay(instantMs, zone)} ${formatTime(instantMs, zone)}`

/** Formats day and year. */
export const formatDate = (instantMs: number, zone: string): string =>
  `${formatDay(instantMs, zone)} ${toLocalDate(instantMs, zone).getUTCFullYear()}`

/** Formats date and time to the second. */
export const formatInstant = (instantMs: number, zone: string): string =>
  `${formatDate(instantMs, zone)} ${formatTimeWithSeconds(instantMs, zone)}`

/** Formats an instant relative to now: `just now`, `40s ago`, `in 5m`. */
export const formatAge = (instantMs: number, nowMs: number): string => {
  const seconds = (nowMs - instantMs) / 1000
  if (Math.abs(seconds) < 5) return 'just now'
  return seconds > 0 ? `${formatTimeSpan(seconds)} ago` : `in ${formatTimeSpan(-seconds)}`
}

/** A day in a time zone, as days since 1 January 1970, and the time of day. */
export interface LocalDay {
  day: number
  sinceMidnightMs: number
}

const dayMs = 86_400_000

export const toLocalDay = (instantMs: number, zone: string): LocalDay => {
  const localMs = instantMs + computeZoneOffsetMs(instantMs, zone)
  const day = Math.floor(localMs / dayMs)
  return { day, sinceMidnightMs: localMs - day * dayMs }
}

/** Parses epoch milliseconds, given as a number or as text; null for anything else. */
export const readInstant = (value: unknown): number | null => {
  const instant = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof instant === 'number' && Number.isFinite(instant) ? instant : null
}
