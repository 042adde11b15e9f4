import { hash } from 'node:crypto'

/** JSON in which the order of fields says nothing. */
export const canonical = (value: unknown): string => JSON.stringify(ordered(value))

const ordered = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const entries = Object.entries(value).map(([name, inner]) => [name, ordered(inner)] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** A name made of texts: 40 hexadecimal digits, other ones for other texts. */
export const digestOf = (...texts: readonly string[]): string => hash('sha256', JSON.stringify(texts)).slice(0, 40)
