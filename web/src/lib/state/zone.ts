import type { ReadableParameters } from './range.ts'

/** Time zone in which instants are shown and days begin: the operator's, this browser's, UTC, or that of the monitored host. */
export const zoneChoices = ['default', 'browser', 'utc', 'host'] as const
export type ZoneChoice = (typeof zoneChoices)[number]

/** The choice that the URL states, else what this reader prefers. */
export const readZone = (parameters: ReadableParameters, preferred: ZoneChoice = 'default'): ZoneChoice =>
  zoneChoices.find((choice) => choice === parameters.get('zone')) ?? preferred

/** Zones by their IANA names; undefined until they are known, or where the operator sets none. */
interface KnownZones {
  host?: string | undefined
  operator?: string | undefined
}

/** The IANA name of a choice; the browser's zone where another is not known. */
export const zoneName = (choice: ZoneChoice, { host, operator }: KnownZones = {}): string => {
  if (choice === 'utc') return 'UTC'
  const zones: Partial<Record<ZoneChoice, string | undefined>> = { host, default: operator }
  return zones[choice] ?? browserZone()
}

const minuteMs = 60_000

let knownZone: string | undefined
/**
 * Asked once, since every instant on a page wants to know, and of `Temporal` where there is one: the first use of `Intl` takes a browser
 * as long as drawing a tenth of a page.
 */
const browserZone = (): string =>
  (knownZone ??= globalThis.Temporal?.Now.timeZoneId() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone)

/** Milliseconds that the zone is ahead of UTC at an instant. */
export const zoneOffsetMs = (instantMs: number, zone: string): number => {
  if (zone === 'UTC') return 0
  if (zone === browserZone()) return -new Date(instantMs).getTimezoneOffset() * minuteMs
  const parts = wallClock(zone).formatToParts(instantMs)
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((each) => each.type === type)?.value)
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return wall - Math.floor(instantMs / 1000) * 1000
}

/** The instant that clocks in the zone show as `2026-11-20T14:05`, or null when the text is not such a time. */
export const fromWallTime = (text: string, zone: string): number | null => {
  const asUtc = Date.parse(`${text}Z`)
  if (Number.isNaN(asUtc)) return null
  // The offset is asked twice, as the first guess may lie on the other side of a change of clocks.
  const guess = asUtc - zoneOffsetMs(asUtc, zone)
  return asUtc - zoneOffsetMs(guess, zone)
}

/** What clocks in the zone show at an instant, in the form of a date-and-time input. */
export const toWallTime = (instantMs: number, zone: string): string =>
  new Date(instantMs + zoneOffsetMs(instantMs, zone)).toISOString().slice(0, 16)

const formats = new Map<string, Intl.DateTimeFormat>()
const maximumFormats = 64

const wallClock = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known) return known
  if (formats.size >= maximumFormats) formats.clear()
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
