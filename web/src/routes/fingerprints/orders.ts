import { column } from '#lib/table/columns.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** The columns of the list, with the API sort order of each. Null means that users cannot sort by the column. */
export const listed = [
  { column: column('query', 'Statement', 'query', { href: '/fingerprints/{hash}' }), order: null },
  { column: column('share', 'Share of time', 'percent', { bar: true }), order: 'total_time' },
  { column: column('calls', 'Calls', 'number'), order: 'calls' },
  { column: column('totalMs', 'Total', 'duration-ms'), order: 'total_time' },
  { column: column('averageMs', 'Average', 'duration-ms'), order: 'average' },
  {
    column: column('p95Ms', 'p95', 'duration-ms', { doc: '95 % of executions were at least this fast.' }),
    order: 'p95',
  },
  { column: column('errors', 'Errors', 'number'), order: 'errors' },
  { column: column('readRows', 'Rows read', 'rows'), order: 'read_rows' },
  { column: column('peakMemoryBytes', 'Peak memory', 'bytes'), order: 'memory' },
  { column: column('users', 'Users', 'list'), order: null },
  { column: column('lastSeenMs', 'Last seen', 'relative-time'), order: 'last_seen' },
] as const

const defaultOrder = 'total_time'

/** Reads the sort order from the URL. The default is total time. */
export const readOrder = (parameters: ReadableParameters) =>
  listed.find(({ order }) => order !== null && order === parameters.get('order'))?.order ?? defaultOrder

/** Returns the name of the column with this sort order. If two columns share it, returns the absolute figure. */
export const columnOf = (order: string): string => listed.findLast((each) => each.order === order)?.column.name ?? ''

/** Returns the sort order of a column; null if users cannot sort by the column. */
export const orderOf = (name: string): string | null => listed.find((each) => each.column.name === name)?.order ?? null

export const writeOrder = (order: string): string | null => (order === defaultOrder ? null : order)
