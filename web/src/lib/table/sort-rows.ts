import type { Row } from '#proto/query.ts'
import type { Sort } from './table-state.ts'

/** Rows in an order by one column: numbers by size, texts by the alphabet with numbers in them by size, what is absent last. */
export const sortRows = <R extends Row>(rows: readonly R[], sort: Sort | null): readonly R[] => {
  if (!sort) return rows
  const { column, direction } = sort
  const sign = direction === 'asc' ? 1 : -1
  return rows.toSorted((one, other) => {
    const [left, right] = [one[column], other[column]]
    if (left == null || right == null) return Number(left == null) - Number(right == null)
    return sign * compare(left, right)
  })
}

let texts: Intl.Collator | undefined
/** Made when texts are first put in order: its first use takes a browser long. */
const byAlphabet = (left: string, right: string): number =>
  (texts ??= new Intl.Collator('en', { numeric: true })).compare(left, right)

const compare = (left: unknown, right: unknown): number =>
  typeof left === 'number' && typeof right === 'number' ? left - right : byAlphabet(String(left), String(right))
