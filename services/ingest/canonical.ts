import { hash } from 'node:crypto'

/** JSON in which the order of fields says nothing. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )

/** A name made of texts: 40 hexadecimal digits, other ones for other texts. */
export const digestOf = (...texts: readonly string[]): string => hash('sha256', JSON.stringify(texts)).slice(0, 40)
