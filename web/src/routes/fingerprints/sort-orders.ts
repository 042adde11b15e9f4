import { createColumn } from '#lib/table/columns.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** The columns of the list, with the API sort order of each. Null means that users cannot sort by the column. */
export const fingerprintColumns = [
  { column: createColumn('query', 'Statement', 'query', { href: '/fingerprints/{hash}' }), order: null },
  { column: createColumn('share', 'Share of time', 'percent', { bar: true }), order: 'total_time' },
  { column: createColumn('calls', 'Calls', 'number'), order: 'calls' },
  { column: createColumn('totalMs', 'Total', 'duration-ms'), order: 'total_time' },
  { column: createColumn('averageMs', 'Average', 'duration-ms'), order: 'average' },
  {
    column: createColumn('p95Ms', 'p95', 'duration-ms', { doc: '95 % of executions were at least this fast.' }),
    order: 'p95',
  },
  { column: createColumn('errors', 'Errors', 'number'), order: 'errors' },
  { column: createColumn('readRows', 'Rows read', 'rows'), order: 'read_rows' },
  { column: createColumn('peakMemoryBytes', 'Peak memory', 'bytes'), order: 'memory' },
  { column: createColumn('users', 'Users', 'list'), order: null },
  { column: createColumn('lastSeenMs', 'Last seen', 'relative-time'), order: 'last_seen' },
] as const

const defaultOrder = 'total_time'

/** Reads the sort order from the URL. The default is total time. */
export const readSortOrder = (parameters: ReadableParameters) =>
  fingerprintColumns.find(({ order }) => order !== null && order === parameters.get('order'))?.order ?? defaultOrder

/** Returns the name of the column with this sort order. If two columns have it, returns the last one. */
export const findSortedColumn = (order: string): string =>
  fingerprintColumns.findLast((each) => each.order === order)?.column.name ?? ''

/** Returns the sort order of a column; null if users cannot sort by the column. */
export const findColumnSortOrder = (name: string): string | null =>
  fingerprintColumns.find((each) => each.column.name === name)?.order ?? null

export const writeSortOrder = (order: string): string | null => (order === defaultOrder ? null : order)
