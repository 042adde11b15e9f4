import type { Unit } from '#proto/catalogue.ts'
import { unitValueMappings } from '#proto/unit-words.ts'

const ellipsis = '…'
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Measures the size of a text, in any unit; the size is at least the UTF-16 length. */
export type TextSizeFunction = (text: string) => number

const countUnits: TextSizeFunction = ({ length }) => length
/** Returns the number of bytes of a text in a UTF-8 JSON document. */
export const countJsonBytes: TextSizeFunction = (text) => Buffer.byteLength(JSON.stringify(text)) - '""'.length

/** Cuts a text to a maximum size between grapheme clusters and appends an ellipsis. */
export const truncateText = (text: string, maxSize: number, sizeOf: TextSizeFunction = countUnits): string => {
  if (text.length <= maxSize && sizeOf(text) <= maxSize) return text
  let room = maxSize - sizeOf(ellipsis)
  if (room < 0) return ''
  let length = 0
  // Segments only the part that can precede the cut, plus one grapheme cluster, because the text may be long.
  for (const { segment, index } of segments.segment(text.slice(0, maxSize + maxClusterLength))) {
    room -= sizeOf(segment)
    if (room < 0) break
    length = index + segment.length
  }
  return text.slice(0, length) + ellipsis
}

const maxClusterLength = 64

/** Escapes a text and truncates it to `maxLength` escaped characters, without splitting escape sequences. */
export const truncateAndEscape = (text: string, maxLength: number, escape: (text: string) => string): string =>
  escape(truncateText(text, maxLength, (part) => escape(part).length))

const numberFormat = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
const integerFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

const suffixes: Readonly<Record<Exclude<Unit, 'bytes' | 'bytes-per-second' | 'count'>, string>> = {
  rows: ' rows',
  'rows-per-second': ' rows/s',
  seconds: ' s',
  milliseconds: ' ms',
  microseconds: ' µs',
  percent: ' %',
  ratio: '',
  'per-second': '/s',
  'per-minute': '/min',
  'yes-no': '',
  level: '',
  none: '',
}

/** Formats a value with its unit. */
export const formatQuantity = (value: number, unit: Unit): string => {
  const word = unitValueMappings[unit]?.[value]
  if (word !== undefined) return word
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'bytes-per-second') return `${formatBytes(value)}/s`
  if (unit === 'count') return formatNumber(value)
  if (unit === 'seconds' && value >= longSeconds) return formatDuration(value * secondMs)
  return `${formatNumber(value)}${suffixes[unit]}`
}

/** Durations of at least this many seconds are shown in minutes. */
const longSeconds = 120

const formatNumber = (value: number): string => (Math.abs(value) >= 10_000 ? integerFormat : numberFormat).format(value)

const sizes = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

const formatBytes = (value: number): string => {
  const power = Math.min(Math.max(Math.floor(Math.log2(Math.abs(value) || 1) / 10), 0), sizes.length - 1)
  return `${numberFormat.format(value / 1024 ** power)} ${sizes[power]}`
}

const secondMs = 1_000
const steps = [
  { lengthMs: 86_400 * secondMs, name: 'd' },
  { lengthMs: 3_600 * secondMs, name: 'h' },
  { lengthMs: 60 * secondMs, name: 'min' },
] as const

/** Formats a duration with its two largest units: `2 h 5 min`. */
export const formatDuration = (lengthMs: number): string => {
  const parts: string[] = []
  let rest = lengthMs
  for (const { lengthMs: step, name } of steps) {
    const count = Math.floor(rest / step)
    rest -= count * step
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`)
  }
  return parts.length > 0 ? parts.join(' ') : `${Math.max(0, Math.round(lengthMs / secondMs))} s`
}

/** Escapes the three characters that start markup in Slack and in Telegram HTML. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Escapes text for HTML, including attribute values. */
export const escapeHtml = (text: string): string =>
  escapeMarkup(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;')

/** Escapes inline Markdown and characters that start headings and lists. */
export const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_~|<>[]/g, '\\$&').replaceAll(/^(\s*)([#+-])/gm, '$1\\$2')
