import { span } from './number.ts'

const formats = new Map<string, Intl.DateTimeFormat>()
const maximumFormats = 256

/** A formatter made once: making one costs far more than using it. */
const formatOf = (zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `${zone} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known) return known
  if (formats.size >= maximumFormats) formats.clear()
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options })
  formats.set(key, format)
  return format
}

const day = { day: '2-digit', month: 'short' } as const
const minute = { hour: '2-digit', minute: '2-digit' } as const
const second = { ...minute, second: '2-digit' } as const

export const formatTime = (instantMs: number, zone: string): string => formatOf(zone, minute).format(instantMs)
export const formatSecond = (instantMs: number, zone: string): string => formatOf(zone, second).format(instantMs)
export const formatDay = (instantMs: number, zone: string): string => formatOf(zone, day).format(instantMs)
export const formatDayTime = (instantMs: number, zone: string): string =>
  `${formatDay(instantMs, zone)} ${formatTime(instantMs, zone)}`

/** Day and year: for what may lie far away. */
export const formatDate = (instantMs: number, zone: string): string =>
  formatOf(zone, { ...day, year: 'numeric' }).format(instantMs)

/** Year, day and second: for cells and tooltips. */
export const formatInstant = (instantMs: number, zone: string): string =>
  `${formatDate(instantMs, zone)} ${formatOf(zone, second).format(instantMs)}`

/** `just now`, `40s ago`, `in 5m`. */
export const formatAge = (instantMs: number, nowMs: number): string => {
  const seconds = (nowMs - instantMs) / 1000
  if (Math.abs(seconds) < 5) return 'just now'
  return seconds > 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`
}

/** A day of a zone, counted from the first of 1970, and the time of day by the clock on the wall. */
export interface LocalDay {
  day: number
  sinceMidnightMs: number
}

const dayMs = 86_400_000

export const dayOf = (instantMs: number, zone: string): LocalDay => {
  const format = formatOf(zone, { year: 'numeric', month: '2-digit', day: '2-digit', ...second })
  const part = Object.fromEntries(format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute: minutes = 0, second: seconds = 0 } = part
  return {
    day: Date.UTC(year, month - 1, day) / dayMs,
    sinceMidnightMs: ((hour * 60 + minutes) * 60 + seconds) * 1_000,
  }
}

/** The instant of a cell or a time axis: epoch milliseconds, as a number or, when too large for one, as text. */
export const readInstant = (value: unknown): number | null => {
  const instant = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof instant === 'number' && Number.isFinite(instant) ? instant : null
}
