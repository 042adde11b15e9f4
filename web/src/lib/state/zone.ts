import type { ReadableParameters } from './range.ts'

/** Display time zones: the operator's, the browser's, UTC, or that of the host. */
export const zoneChoices = ['default', 'browser', 'utc', 'host'] as const
export type ZoneChoice = (typeof zoneChoices)[number]

/** Returns the time zone of the URL, otherwise the preferred one. */
export const readZone = (parameters: ReadableParameters, preferred: ZoneChoice = 'default'): ZoneChoice =>
  zoneChoices.find((choice) => choice === parameters.get('zone')) ?? preferred

/** The time zones of host and operator as IANA names; undefined until known or if none is set. */
interface KnownZones {
  host?: string | undefined
  operator?: string | undefined
}

/** Returns the IANA name of the chosen time zone, or that of the browser if the chosen one is unknown. */
export const resolveZoneName = (choice: ZoneChoice, { host, operator }: KnownZones = {}): string => {
  if (choice === 'utc') return 'UTC'
  const zones: Partial<Record<ZoneChoice, string | undefined>> = { host, default: operator }
  return zones[choice] ?? getBrowserZone()
}

const minuteMs = 60_000

let knownZone: string | undefined
/**
 * Returns the time zone of the browser. It is cached and read from `Temporal` where available, as the first use of
 * `Intl` takes about a tenth of the rendering time of a page.
 */
const getBrowserZone = (): string =>
  (knownZone ??= globalThis.Temporal?.Now.timeZoneId() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone)

/** Returns the offset of a zone from UTC at an instant, in milliseconds. */
export const computeZoneOffsetMs = (instantMs: number, zone: string): number => {
  if (zone === 'UTC') return 0
  if (zone === getBrowserZone()) return -new Date(instantMs).getTimezoneOffset() * minuteMs
  const parts = getWallClockFormat(zone).formatToParts(instantMs)
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((each) => each.type === type)?.value)
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return wall - Math.floor(instantMs / 1000) * 1000
}

/** Parses a wall-clock time such as `2026-11-20T14:05` in a zone; null if it is invalid. */
export const parseWallTime = (text: string, zone: string): number | null => {
  const asUtc = Date.parse(`${text}Z`)
  if (Number.isNaN(asUtc)) return null
  // Two passes, as the first guess may be on the other side of a DST change.
  const guess = asUtc - computeZoneOffsetMs(asUtc, zone)
  return asUtc - computeZoneOffsetMs(guess, zone)
}

/** Returns the wall-clock time of an instant in a zone, in the format of a date-and-time input. */
export const formatWallTime = (instantMs: number, zone: string): string =>
  new Date(instantMs + computeZoneOffsetMs(instantMs, zone)).toISOString().slice(0, 16)

/** Returns the start of the day that contains an instant, in a zone. */
export const findDayStartMs = (instantMs: number, zone: string): number => {
  const day = formatWallTime(instantMs, zone).slice(0, 'YYYY-MM-DD'.length)
  return parseWallTime(`${day}T00:00`, zone) ?? instantMs
}

const formats = new Map<string, Intl.DateTimeFormat>()
const maxFormats = 64

const getWallClockFormat = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known) return known
  if (formats.size >= maxFormats) formats.clear()
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}
