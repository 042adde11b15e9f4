import type { ExplainResult } from '#lib/api/analysis.ts'
import { formatValue } from '#lib/ui/number.ts'

/** The estimated reads of a statement, as the sum over its tables. */
export interface StatementEstimate {
  text: string
  /** Whether the statement reads so much that the console shows a warning. */
  isLarge: boolean
}

const largeRows = 100_000_000

/** Returns whether a statement has no subqueries. Others are not analyzed automatically, as EXPLAIN runs subqueries. */
export const hasNoSubquery = (sql: string): boolean =>
  [...sql.matchAll(/\bselect\b/gi)].length === 1 && !/\b(?:with|in)\s*\(/i.test(sql)

export const summarizeEstimates = (estimates: NonNullable<ExplainResult['estimates']>): StatementEstimate => {
  if (estimates.length === 0) return { text: 'Reads no MergeTree tables.', isLarge: false }
  const sum = (of: (each: (typeof estimates)[number]) => number) => estimates.reduce((all, each) => all + of(each), 0)
  const rows = sum((each) => each.rows)
  const [first] = estimates
  const places = estimates.length === 1 && first ? `${first.database}.${first.table}` : `${estimates.length} tables`
  const text = `Reads up to ${formatValue(rows, 'rows')} rows, ${formatValue(
    sum((each) => each.marks),
    'count',
  )} granules in ${formatValue(
    sum((each) => each.parts),
    'count',
  )} parts from ${places}.`
  return { text, isLarge: rows >= largeRows }
}
