import type { Unit } from '#proto/catalogue.ts'
import { unitWords } from '#proto/unit-words.ts'

const ellipsis = '…'
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** How much room a text takes: at least its UTF-16 units. */
export type SizeOf = (text: string) => number

const unitsOf: SizeOf = ({ length }) => length
/** In a JSON document of UTF-8. */
export const jsonBytesOf: SizeOf = (text) => Buffer.byteLength(JSON.stringify(text)) - '""'.length

/** A text of at most so many UTF-16 units, or of another size, cut between characters as people see them; what is cut ends in an ellipsis. */
export const cut = (text: string, maxSize: number, sizeOf: SizeOf = unitsOf): string => {
  if (text.length <= maxSize && sizeOf(text) <= maxSize) return text
  let room = maxSize - sizeOf(ellipsis)
  if (room < 0) return ''
  let length = 0
  // One character may have many units: only what can stand before the cut is looked at.
  for (const { segment, index } of segments.segment(text.slice(0, maxSize + longestCharacter))) {
    room -= sizeOf(segment)
    if (room < 0) break
    length = index + segment.length
  }
  return text.slice(0, length) + ellipsis
}

const longestCharacter = 64

/** A text cut so that in its markup it takes at most so many units: cut first, so that no markup is cut in two. */
export const cutInMarkup = (text: string, maxLength: number, escape: (text: string) => string): string =>
  escape(cut(text, maxLength, (part) => escape(part).length))

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

/** The three characters that begin markup in Slack's texts and in Telegram's HTML. */
export const escapeAngles = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** HTML, within attributes too. */
export const escapeHtml = (text: string): string =>
  escapeAngles(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;')

/** Markdown within a line and what begins headings and lists; a backslash before punctuation stands for the punctuation. */
export const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_~|<>[]/g, '\\$&').replaceAll(/^(\s*)([#+-])/gm, '$1\\$2')
