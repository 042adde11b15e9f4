import { column } from '#lib/table/columns.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** The columns of the list, each with the order of the API that its head asks for. */
export const listed = [
  { column: column('query', 'Statement', 'query', { href: '/fingerprints/{hash}' }), order: null },
  { column: column('share', 'Share of time', 'percent', { bar: true }), order: 'total_time' },
  { column: column('calls', 'Calls', 'number'), order: 'calls' },
  { column: column('totalMs', 'Total', 'duration-ms'), order: 'total_time' },
  { column: column('averageMs', 'Average', 'duration-ms'), order: 'average' },
  { column: column('p95Ms', 'p95', 'duration-ms', { doc: 'One in twenty took longer.' }), order: 'p95' },
  { column: column('errors', 'Errors', 'number'), order: 'errors' },
  { column: column('readRows', 'Rows read', 'rows'), order: 'read_rows' },
  { column: column('peakMemoryBytes', 'Peak memory', 'bytes'), order: 'memory' },
  { column: column('users', 'Users', 'list'), order: null },
  { column: column('lastSeenMs', 'Last seen', 'relative-time'), order: 'last_seen' },
] as const

const usualOrder = 'total_time'

/** The order that the URL asks for; that of total time for what is none. */
export const readOrder = (parameters: ReadableParameters) =>
  listed.find(({ order }) => order !== null && order === parameters.get('order'))?.order ?? usualOrder

/** The column under which an order is shown; of two columns of one order the one with the figure itself. */
export const columnOf = (order: string): string => listed.findLast((each) => each.order === order)?.column.name ?? ''

/** The order that the head of a column asks for; null for one without, and removed from the URL when it is the usual. */
export const orderOf = (name: string): string | null => listed.find((each) => each.column.name === name)?.order ?? null

export const writeOrder = (order: string): string | null => (order === usualOrder ? null : order)
