import type { Unit } from '#proto/catalogue.ts'
import { unitValueMappings } from '#proto/unit-words.ts'

const sizeUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
const countUnits = ['', 'K', 'M', 'B', 'T']

/** Formats a number with at most three significant digits. */
const formatDigits = (value: number): string => {
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  return String(Number(value.toFixed(digits)))
}

const formatScaled = (value: number, base: number, units: readonly string[], separator: string): string => {
  const size = Math.abs(value)
  const step = size < base ? 0 : Math.min(Math.floor(Math.log(size) / Math.log(base) + 1e-9), units.length - 1)
  return `${formatDigits(value / base ** step)}${separator}${units[step]}`.trimEnd()
}

/** Formats a size in bytes: `1.5 GiB`. */
export const formatBytes = (bytes: number): string => formatScaled(bytes, 1024, sizeUnits, ' ')

/** Formats a count: `950`, `12.3K`, `4.5M`. */
export const formatCount = (count: number): string => formatScaled(count, 1000, countUnits, '')

const spans: readonly [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
]

/** Formats a duration: `250 ms`, `4.2 s`, `2m 10s`, `3d 4h`. */
export const formatSeconds = (seconds: number): string => {
  const size = Math.abs(seconds)
  if (size === 0) return '0 s'
  if (size < 1e-3) return `${formatDigits(seconds * 1e6)} µs`
  if (size < 1) return `${formatDigits(seconds * 1e3)} ms`
  if (size < 60) return `${formatDigits(seconds)} s`
  const whole = Math.floor(size)
  const first = spans.findIndex(([length]) => whole >= length)
  const [large, small] = [spans[first], spans[first + 1]]
  if (!large) return `${whole}s`
  const rest = small ? Math.floor((whole % large[0]) / small[0]) : 0
  const head = `${seconds < 0 ? '-' : ''}${Math.floor(whole / large[0])}${large[1]}`
  return small && rest > 0 ? `${head} ${rest}${small[1]}` : head
}

/** Formats a value with its unit. */
export const formatUnit = (value: number | null | undefined, unit: Unit): string => {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  return unitValueMappings[unit]?.[value] ?? formatters[unit](value)
}

const formatters: Record<Unit, (value: number) => string> = {
  count: formatCount,
  rows: formatCount,
  none: formatCount,
  'yes-no': formatCount,
  level: formatCount,
  bytes: formatBytes,
  'bytes-per-second': (value) => `${formatBytes(value)}/s`,
  'rows-per-second': (value) => `${formatCount(value)}/s`,
  'per-second': (value) => `${formatCount(value)}/s`,
  'per-minute': (value) => `${formatCount(value)}/min`,
  seconds: formatSeconds,
  milliseconds: (value) => formatSeconds(value / 1e3),
  microseconds: (value) => formatSeconds(value / 1e6),
  percent: (value) => `${formatDigits(value)}%`,
  ratio: (value) => `${formatDigits(value)}×`,
}

/** Formats an instant in UTC to the second: `2026-06-01 22:00:00`. */
export const formatInstant = (instantMs: number): string =>
  new Date(instantMs).toISOString().slice(0, 19).replace('T', ' ')

const levels = '▁▂▃▄▅▆▇█'

/** Returns a line of bars, one per value; values without data are spaces. More values than columns are averaged. */
export const formatSparkline = (values: readonly (number | null)[], maxColumns: number): string => {
  const shown = values.length > maxColumns ? averageInto(values, maxColumns) : values
  const known = shown.filter((value) => value !== null)
  const [low, high] = [Math.min(...known, 0), Math.max(...known)]
  return shown
    .map((value) => {
      if (value === null) return ' '
      const share = high === low ? 0 : (value - low) / (high - low)
      return levels[Math.round(share * (levels.length - 1))]
    })
    .join('')
}

const averageInto = (values: readonly (number | null)[], columns: number): (number | null)[] =>
  Array.from({ length: columns }, (_, index) => {
    const part = values.slice(
      Math.floor((index * values.length) / columns),
      Math.floor(((index + 1) * values.length) / columns),
    )
    const known = part.filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0) / known.length
  })

/** Parses a duration such as `30m`, `2h` or `7d` into minutes; undefined if it is invalid. */
export const parseMinutes = (text: string): number | undefined => {
  const { amount, unit } = /^(?<amount>[1-9]\d{0,4})(?<unit>[mhd])$/.exec(text)?.groups ?? {}
  const minutes = { m: 1, h: 60, d: 1_440 }[unit ?? '']
  return amount === undefined || minutes === undefined ? undefined : Number(amount) * minutes
}
