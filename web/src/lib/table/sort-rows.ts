import type { Row } from '#proto/query.ts'
import type { SortOrder } from './table-state.ts'

/** Sorts rows by one column: numbers by value, text in natural order, missing values last. */
export const sortRows = <R extends Row>(rows: readonly R[], sort: SortOrder | null): readonly R[] => {
  if (!sort) return rows
  const { column, direction } = sort
  const sign = direction === 'asc' ? 1 : -1
  return rows.toSorted((one, other) => {
    const [left, right] = [one[column], other[column]]
    if (left == null || right == null) return Number(left == null) - Number(right == null)
    return sign * compare(left, right)
  })
}

let textCollator: Intl.Collator | undefined
/** Compares texts. The collator is created lazily, because the first use of `Intl.Collator` is slow. */
const compareTexts = (left: string, right: string): number =>
  (textCollator ??= new Intl.Collator('en', { numeric: true })).compare(left, right)

const compare = (left: unknown, right: unknown): number =>
  typeof left === 'number' && typeof right === 'number' ? left - right : compareTexts(String(left), String(right))
