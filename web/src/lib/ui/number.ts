import type { Unit } from '#proto/catalogue.ts'
import { unitValueMappings } from '#proto/unit-words.ts'
import { preferences } from '#lib/state/preferences.ts'

/** Unit prefixes of sizes, and the factor between them. */
const sizeForms = {
  binary: { base: 1024, steps: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] },
  decimal: { base: 1000, steps: ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'] },
} as const
const secondsOf = { seconds: 1, milliseconds: 1e-3, microseconds: 1e-6 } as const

/**
 * Formats a number in English, with thousands separators and without trailing zeros. It avoids `Intl`, whose first use
 * takes about a tenth of the rendering time of a page.
 */
const formatPlain = (value: number, maxDigits = 2): string => {
  const [front = '', back = ''] = value.toFixed(maxDigits).split('.')
  const digits = back.replace(/0+$/, '')
  return front.replaceAll(/\B(?=(\d{3})+$)/g, ',') + (digits && `.${digits}`)
}

const largeUnits: readonly [size: number, name: string][] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
]
/** Values of at least this fraction of a unit are shown in that unit, so that 999,999 becomes `1M`, not `1,000K`. */
const roundUpFraction = 0.99995

const formatShort = (value: number): string => {
  const [size, name] = largeUnits.find(([step]) => Math.abs(value) >= step * roundUpFraction) ?? [1, '']
  return formatPlain(value / size, 1) + name
}

/** Formats a value compactly with its unit, for axes, tiles and cells. */
export const formatValue = (value: number | null | undefined, unit: Unit): string => {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  return unitValueMappings[unit]?.[value] ?? formatters[unit](value)
}

/** Formats a duration measured in whole milliseconds, where 0 means less than one. */
export const formatElapsedTime = (ms: number): string => (ms < 1 ? '< 1 ms' : formatValue(ms, 'milliseconds'))

/** Formats the values of an axis. Zero uses the unit of the largest value: `0 s` and `5 s`. */
export const formatAxisValues = (values: readonly number[], unit: Unit): string[] => {
  const step = /^[\d.,]+ (?<step>s|ms|µs)$/.exec(formatValue(Math.max(...values), unit))?.groups?.['step']
  return values.map((value) => (value === 0 && step ? `0 ${step}` : formatValue(value, unit)))
}

/** Formats a value without rounding, for tooltips. */
export const formatExactValue = (value: number, unit: Unit): string =>
  unitValueMappings[unit]?.[value] ?? `${formatPlain(value)} ${exactNames[unit]}`.trim()

const formatters: Record<Unit, (value: number) => string> = {
  count: (value) => formatCompact(value),
  rows: (value) => formatCompact(value),
  none: (value) => formatCompact(value),
  'yes-no': (value) => formatCompact(value),
  level: (value) => formatCompact(value),
  bytes: (value) => formatBytes(value),
  'bytes-per-second': (value) => `${formatBytes(value)}/s`,
  'rows-per-second': (value) => `${formatCompact(value)}/s`,
  'per-second': (value) => `${formatCompact(value)}/s`,
  'per-minute': (value) => `${formatCompact(value)}/min`,
  seconds: (value) => formatDuration(value * secondsOf.seconds),
  milliseconds: (value) => (value === 0 ? '0 ms' : formatDuration(value * secondsOf.milliseconds)),
  microseconds: (value) => (value === 0 ? '0 µs' : formatDuration(value * secondsOf.microseconds)),
  percent: (value) => `${formatDigits(value)}%`,
  ratio: (value) => `${formatDigits(value)}×`,
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
  'per-minute': '/min',
  seconds: 's',
  milliseconds: 'ms',
  microseconds: 'µs',
  percent: '%',
  ratio: '',
}

/** Formats a number: rounded below 100,000, otherwise in short form such as 123K or 4.5M. */
const formatCompact = (value: number): string => {
  const size = Math.abs(value)
  if (size >= 100_000) return formatShort(value)
  return size >= 100 ? formatPlain(value, 0) : formatDigits(value)
}

/** Formats with at most three significant digits, without trailing zeros. */
const formatDigits = (value: number): string => {
  const size = Math.abs(value)
  const fraction = size >= 100 ? 0 : size >= 10 ? 1 : 2
  return size > 0 && size < 0.005 ? '<0.01' : formatPlain(Number(value.toFixed(fraction)))
}

const formatBytes = (value: number): string => {
  const { base, steps } = sizeForms[preferences.current.bytes]
  const size = Math.abs(value)
  // The tolerance keeps exact powers in their own unit: 1 MiB, not 1024 KiB.
  const step = size < base ? 0 : Math.min(Math.floor(Math.log(size) / Math.log(base) + 1e-9), steps.length - 1)
  return `${formatDigits(value / base ** step)} ${steps[step]}`
}

const formatDuration = (seconds: number): string => {
  const size = Math.abs(seconds)
  if (size === 0) return '0 s'
  if (size < 1e-3) return `${formatDigits(seconds * 1e6)} µs`
  if (size < 1) return `${formatDigits(seconds * 1e3)} ms`
  if (size < 120) return `${formatDigits(seconds)} s`
  return formatTimeSpan(seconds)
}

const timeSpanUnits: readonly [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
  [1, 's'],
]

/** Formats the two largest parts of a duration: `3d 4h`, `2h 5m`, `2m 10s`. */
export const formatTimeSpan = (seconds: number): string => {
  const first = timeSpanUnits.findIndex(([size]) => Math.abs(seconds) >= size)
  const [large, small] = [timeSpanUnits[Math.max(first, 0)], timeSpanUnits[first + 1]]
  if (!large || first < 0) return '0s'
  const rest = small ? Math.floor((Math.abs(seconds) % large[0]) / small[0]) : 0
  const head = `${Math.trunc(seconds / large[0])}${large[1]}`
  return small && rest > 0 ? `${head} ${rest}${small[1]}` : head
}
