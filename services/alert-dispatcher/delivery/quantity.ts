import type { Unit } from '#proto/catalogue.ts'
import { unitWords } from '#proto/unit-words.ts'

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

const suffixes: Readonly<Record<Exclude<Unit, 'bytes' | 'bytes-per-second' | 'count'>, string>> = {
  rows: ' rows',
  'rows-per-second': ' rows/s',
  seconds: ' s',
  milliseconds: ' ms',
  microseconds: ' µs',
  percent: ' %',
  ratio: '',
  'per-second': '/s',
  'yes-no': '',
  level: '',
  none: '',
}

/** A figure as people read it. */
export const quantity = (value: number, unit: Unit): string => {
  const word = unitWords[unit]?.[value]
  if (word !== undefined) return word
  if (unit === 'bytes') return bytes(value)
  if (unit === 'bytes-per-second') return `${bytes(value)}/s`
  if (unit === 'count') return format(value)
  if (unit === 'seconds' && value >= longSeconds) return lengthOfTime(value * secondMs)
  return `${format(value)}${suffixes[unit]}`
}

/** From here on people think in minutes. */
const longSeconds = 120

const format = (value: number): string => (Math.abs(value) >= 10_000 ? whole : number).format(value)

const sizes = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

const bytes = (value: number): string => {
  const power = Math.min(Math.max(Math.floor(Math.log2(Math.abs(value) || 1) / 10), 0), sizes.length - 1)
  return `${number.format(value / 1024 ** power)} ${sizes[power]}`
}

const secondMs = 1_000
const steps = [
  { lengthMs: 86_400 * secondMs, name: 'd' },
  { lengthMs: 3_600 * secondMs, name: 'h' },
  { lengthMs: 60 * secondMs, name: 'min' },
] as const

/** A length of time in its two largest parts: `2 h 5 min`. */
export const lengthOfTime = (lengthMs: number): string => {
  const parts: string[] = []
  let rest = lengthMs
  for (const { lengthMs: step, name } of steps) {
    const count = Math.floor(rest / step)
    rest -= count * step
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`)
  }
  return parts.length > 0 ? parts.join(' ') : `${Math.max(0, Math.round(lengthMs / secondMs))} s`
}
