import type { Unit } from '#proto/catalogue.ts'
import { unitWords } from '#proto/unit-words.ts'
import { preferences } from '#lib/state/preferences.ts'

/** Unit prefixes of sizes, and the factor between them. */
const sizeForms = {
  binary: { base: 1024, steps: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] },
  decimal: { base: 1000, steps: ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'] },
} as const
const secondsOf = { seconds: 1, milliseconds: 1e-3, microseconds: 1e-6 } as const

/**
 * Formats a number in English, with thousands separators and without trailing zeros. It avoids `Intl`, whose first use
 * takes as long as a tenth of rendering a page.
 */
const plain = (value: number, maxDigits = 2): string => {
  const [front = '', back = ''] = value.toFixed(maxDigits).split('.')
  const digits = back.replace(/0+$/, '')
  return front.replaceAll(/\B(?=(\d{3})+$)/g, ',') + (digits && `.${digits}`)
}

const large: readonly [size: number, name: string][] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
]
/** From this fraction of a unit, values use that unit; otherwise they would round up to 1000 of the smaller one. */
const nearlyNext = 0.99995

const short = (value: number): string => {
  const [size, name] = large.find(([step]) => Math.abs(value) >= step * nearlyNext) ?? [1, '']
  return plain(value / size, 1) + name
}

/** Formats a value compactly with its unit, for axes, tiles and cells. */
export const formatValue = (value: number | null | undefined, unit: Unit): string => {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  return unitWords[unit]?.[value] ?? forms[unit](value)
}

/** Formats a duration measured in whole milliseconds, where 0 means less than one. */
export const formatElapsed = (ms: number): string => (ms < 1 ? '< 1 ms' : formatValue(ms, 'milliseconds'))

/** Formats the values of an axis. Zero uses the unit of the largest value: `0 s` and `5 s`. */
export const formatAxisValues = (values: readonly number[], unit: Unit): string[] => {
  const step = /^[\d.,]+ (?<step>s|ms|µs)$/.exec(formatValue(Math.max(...values), unit))?.groups?.['step']
  return values.map((value) => (value === 0 && step ? `0 ${step}` : formatValue(value, unit)))
}

/** Formats a value without rounding, for tooltips. */
export const formatExactValue = (value: number, unit: Unit): string =>
  unitWords[unit]?.[value] ?? `${plain(value)} ${exactNames[unit]}`.trim()

const forms: Record<Unit, (value: number) => string> = {
  count: (value) => compact(value),
  rows: (value) => compact(value),
  none: (value) => compact(value),
  'yes-no': (value) => compact(value),
  level: (value) => compact(value),
  bytes: (value) => bytes(value),
  'bytes-per-second': (value) => `${bytes(value)}/s`,
  'rows-per-second': (value) => `${compact(value)}/s`,
  'per-second': (value) => `${compact(value)}/s`,
  seconds: (value) => duration(value * secondsOf.seconds),
  milliseconds: (value) => (value === 0 ? '0 ms' : duration(value * secondsOf.milliseconds)),
  microseconds: (value) => (value === 0 ? '0 µs' : duration(value * secondsOf.microseconds)),
  percent: (value) => `${digits(value)}%`,
  ratio: (value) => `${digits(value)}×`,
}

const exactNames: Record<Unit, string> = {
  count: '',
  none: '',
  'yes-no': '',
  level: '',
  rows: 'rows',
  bytes: 'bytes',
  'bytes-per-second': 'bytes/s',
  'rows-per-second': 'rows/s',
  'per-second': '/s',
  seconds: 's',
  milliseconds: 'ms',
  microseconds: 'µs',
  percent: '%',
  ratio: '',
}

/** Formats whole numbers in full up to five digits, then as 123K or 4.5M. */
const compact = (value: number): string => {
  const size = Math.abs(value)
  if (size >= 100_000) return short(value)
  return size >= 100 ? plain(value, 0) : digits(value)
}

/** Formats with at most three significant digits, without trailing zeros. */
const digits = (value: number): string => {
  const size = Math.abs(value)
  const fraction = size >= 100 ? 0 : size >= 10 ? 1 : 2
  return size > 0 && size < 0.005 ? '<0.01' : plain(Number(value.toFixed(fraction)))
}

const bytes = (value: number): string => {
  const { base, steps } = sizeForms[preferences.current.bytes]
  const size = Math.abs(value)
  // The tolerance keeps exact powers in their own unit: 1 MiB, not 1024 KiB.
  const step = size < base ? 0 : Math.min(Math.floor(Math.log(size) / Math.log(base) + 1e-9), steps.length - 1)
  return `${digits(value / base ** step)} ${steps[step]}`
}

const duration = (seconds: number): string => {
  const size = Math.abs(seconds)
  if (size === 0) return '0 s'
  if (size < 1e-3) return `${digits(seconds * 1e6)} µs`
  if (size < 1) return `${digits(seconds * 1e3)} ms`
  if (size < 120) return `${digits(seconds)} s`
  return formatTimeSpan(seconds)
}

const spans: readonly [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
  [1, 's'],
]

/** Formats the two largest parts of a duration: `3d 4h`, `2h 5m`, `2m 10s`. */
export const formatTimeSpan = (seconds: number): string => {
  const first = spans.findIndex(([size]) => Math.abs(seconds) >= size)
  const [large, small] = [spans[Math.max(first, 0)], spans[first + 1]]
  if (!large || first < 0) return '0s'
  const rest = small ? Math.floor((Math.abs(seconds) % large[0]) / small[0]) : 0
  const head = `${Math.trunc(seconds / large[0])}${large[1]}`
  return small && rest > 0 ? `${head} ${rest}${small[1]}` : head
}
