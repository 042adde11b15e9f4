import { beginningOf } from '#shared/text/cut.ts'

/**
 * A result as the model reads it: between marks that the prompt explains, which nothing inside can imitate, since JSON needs no `<`.
 */
export const asData = ({ value, cut }: Shrunk, source: 'host' | 'outside' = 'host'): string => {
  const json = (JSON.stringify(value) ?? 'null').replaceAll('<', String.raw`\u003c`)
  const note = cut ? '\nThis is a part: lists and texts are cut at their ends. Ask narrower to see the rest.' : ''
  return `<data from="${source}">${json}</data>${note}`
}

/** A value that was made to fit, and whether something had to go. */
interface Shrunk {
  value: unknown
  cut: boolean
}

const mostItems = 200
const longestText = 2_000
const leastItems = 1
const leastText = 32
const deepest = 8

/** A value whose JSON is no longer than some bytes: the longest lists and texts lose their ends first, and alike. */
export const shrinkTo = (value: unknown, maxBytes: number): Shrunk => {
  if (fits(value, maxBytes)) return { value, cut: false }
  for (let items = mostItems, text = longestText; items >= leastItems;) {
    const value_ = shrunk(value, items, text, deepest)
    if (fits(value_, maxBytes)) return { value: value_, cut: true }
    if (items === leastItems && text === leastText) break
    items = Math.max(leastItems, Math.floor(items / 2))
    text = Math.max(leastText, Math.floor(text / 2))
  }
  return { value: null, cut: true }
}

const fits = (value: unknown, maxBytes: number): boolean => Buffer.byteLength(JSON.stringify(value) ?? '') <= maxBytes

const shrunk = (value: unknown, items: number, text: number, depth: number): unknown => {
  if (typeof value === 'string') return value.length > text ? `${beginningOf(value, text)}…` : value
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  const smaller = (each: unknown) => shrunk(each, items, text, depth - 1)
  if (Array.isArray(value)) return value.slice(0, items).map(smaller)
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, items)
      .map(([name, each]) => [name, smaller(each)]),
  )
}
