import { shortenText } from './strings.ts'

/** A value that fits its size limit, and whether it was truncated. */
export interface TruncatedValue {
  value: unknown
  cut: boolean
}

const maxItems = 200
const maxTextLength = 2_000
const minItems = 1
const minTextLength = 32
const maxDepth = 8

/**
 * Truncates arrays, objects and strings until the JSON of a value fits into `maxBytes`. One limit applies to the items
 * of all arrays and objects, another to the length of all strings. The value is null if even the lowest limits fail.
 */
export const truncateToSize = (value: unknown, maxBytes: number): TruncatedValue => {
  if (isWithinSize(value, maxBytes)) return { value, cut: false }
  for (let items = maxItems, text = maxTextLength; items >= minItems;) {
    const value_ = truncateValue(value, items, text, maxDepth)
    if (isWithinSize(value_, maxBytes)) return { value: value_, cut: true }
    if (items === minItems && text === minTextLength) break
    items = Math.max(minItems, Math.floor(items / 2))
    text = Math.max(minTextLength, Math.floor(text / 2))
  }
  return { value: null, cut: true }
}

const isWithinSize = (value: unknown, maxBytes: number): boolean =>
  Buffer.byteLength(JSON.stringify(value) ?? '') <= maxBytes

const truncateValue = (value: unknown, items: number, text: number, depth: number): unknown => {
  if (typeof value === 'string') return value.length > text ? `${shortenText(value, text)}…` : value
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  const smaller = (each: unknown) => truncateValue(each, items, text, depth - 1)
  if (Array.isArray(value)) return value.slice(0, items).map(smaller)
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, items)
      .map(([name, each]) => [name, smaller(each)]),
  )
}
