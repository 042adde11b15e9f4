import type { Explained } from '#lib/api/analysis.ts'
import { formatValue } from '#lib/ui/number.ts'

/** What a statement would read, all tables together. */
export interface Cost {
  text: string
  /** So much that somebody may want to look again. */
  isLarge: boolean
}

const largeRows = 100_000_000

/** Analysing runs subqueries, so only a statement without any is looked at unasked. */
export const isHarmless = (sql: string): boolean =>
  [...sql.matchAll(/\bselect\b/gi)].length === 1 && !/\b(?:with|in)\s*\(/i.test(sql)

export const costOf = (estimates: NonNullable<Explained['estimates']>): Cost => {
  if (estimates.length === 0) return { text: 'It would read no MergeTree table.', isLarge: false }
  const sum = (of: (each: (typeof estimates)[number]) => number) => estimates.reduce((all, each) => all + of(each), 0)
  const rows = sum((each) => each.rows)
  const [first] = estimates
  const places = estimates.length === 1 && first ? `${first.database}.${first.table}` : `${estimates.length} tables`
  const text = `It would read up to ${formatValue(rows, 'rows')} rows, ${formatValue(
    sum((each) => each.marks),
    'count',
  )} granules in ${formatValue(
    sum((each) => each.parts),
    'count',
  )} parts, of ${places}.`
  return { text, isLarge: rows >= largeRows }
}
