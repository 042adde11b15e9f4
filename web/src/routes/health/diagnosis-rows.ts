import type { RouteData } from '#lib/api/call.ts'
import type { Row } from '#proto/query.ts'
import type { Column } from '#lib/table/cell.ts'
import type { SortOrder } from '#lib/table/table-state.ts'

type Diagnosis = RouteData<'POST /api/v1/health/actions'>

/**
 * Returns table columns for the result of a diagnosis. A column is a number column if all of its values are numbers.
 */
export const toDiagnosisColumns = ({ columns, rows }: Diagnosis): Column[] =>
  columns.map((name, index) => ({
    name,
    label: name.replaceAll('_', ' '),
    format: rows.every((row) => typeof row[index] === 'number') ? 'number' : 'text',
    bar: false,
    hidden: false,
  }))

export const toDiagnosisRows = ({ columns, rows }: Diagnosis, sort: SortOrder | null): Row[] => {
  const named = rows.map((row): Row => Object.fromEntries(columns.map((name, index) => [name, row[index]])))
  if (!sort) return named
  const sign = sort.direction === 'asc' ? 1 : -1
  return named.toSorted((one, other) => sign * compareCells(one[sort.column], other[sort.column]))
}

const compareCells = (one: unknown, other: unknown): number =>
  String(one ?? '').localeCompare(String(other ?? ''), 'en', { numeric: true })
