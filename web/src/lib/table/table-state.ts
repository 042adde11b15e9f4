import type { CellFormat, TableInfo } from '#proto/catalogue.ts'
import type { ColumnFilter } from '#proto/query.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import { toWindow, type TimeRange, type ReadableParameters } from '#lib/state/range.ts'

/** Filter operators of the API. */
export const tableFilterOperators = [
  'eq',
  'ne',
  'contains',
  'notContains',
  'lt',
  'le',
  'gt',
  'ge',
  'between',
  'withinHours',
  'in',
  'notIn',
] as const satisfies readonly ColumnFilter['operator'][]

export const operatorLabels: Record<ColumnFilter['operator'], string> = {
  eq: 'is',
  ne: 'is not',
  contains: 'contains',
  notContains: 'does not contain',
  lt: 'is below',
  le: 'is at most',
  gt: 'is above',
  ge: 'is at least',
  between: 'is between',
  withinHours: 'is within the last hours:',
  in: 'is one of',
  notIn: 'is none of',
}

/** Returns the operators that apply to a column. */
export const getFilterOperators = (format: CellFormat, isNumeric: boolean): ColumnFilter['operator'][] => {
  const isInstant = format === 'time' || format === 'relative-time'
  const inapplicable = new Set<ColumnFilter['operator']>([
    ...(isNumeric ? (['contains', 'notContains'] as const) : (['lt', 'le', 'gt', 'ge', 'between'] as const)),
    ...(isInstant ? [] : (['withinHours'] as const)),
  ])
  return tableFilterOperators.filter((each) => !inapplicable.has(each))
}

/** Returns the placeholder text of a filter value. */
export const getValuePlaceholder = (operator: ColumnFilter['operator']): string => {
  if (operator === 'between') return 'Two values, separated by a comma'
  if (operator === 'withinHours') return 'Hours'
  return operator === 'in' || operator === 'notIn' ? 'Values, separated by commas' : 'Value'
}

export interface SortOrder {
  column: string
  direction: 'asc' | 'desc'
}

/** A filter in the URL and the API: `column.operator.value`. */
export interface FilterCondition {
  column: string
  operator: ColumnFilter['operator']
  value: string
}

/** Page sizes in rows. Larger pages would be too slow to refresh every minute. */
export const pageSizes = [100, 250, 500, 2_000, 10_000] as const
export const defaultPageSize = 250

/** The display options of a table page. */
export interface TableState {
  sort: SortOrder | null
  conditions: readonly FilterCondition[]
  search: string
  limit: number
  /** Number of rows before those shown. */
  offset: number
  /** The API's cursor of the page; null if it is selected by `offset`. */
  cursor: string | null
  /** Shown columns that are hidden by default. */
  added: readonly string[]
}

/** Reads the display options from the URL; invalid ones are left out. */
export const readTableState = (parameters: ReadableParameters): TableState => ({
  sort: readSort(parameters.get('sort')),
  conditions: parameters.getAll('filter').flatMap((text) => readCondition(text) ?? []),
  search: parameters.get('search') ?? '',
  limit: pageSizes.find((limit) => String(limit) === parameters.get('limit')) ?? defaultPageSize,
  ...readPosition(parameters.get('offset')),
  added: parameters.get('columns')?.split(',').filter(Boolean) ?? [],
})

/** Reads the position of a page. One URL parameter holds both parts, so that a change of the rows resets both. */
const readPosition = (text: string | null): Pick<TableState, 'offset' | 'cursor'> => {
  const [, offset = '0', cursor = null] = /^(\d{1,9})(?:\.([\w-]+))?$/.exec(text ?? '') ?? []
  return { offset: Number(offset), cursor }
}

/** Returns the URL parameter of a page: `250` or `250.cursor`; null for the first page. */
export const writePosition = (offset: number, cursor: string | null = null): string | null => {
  if (offset <= 0) return null
  return cursor === null ? String(offset) : `${offset}.${cursor}`
}

const readSort = (text: string | null): SortOrder | null => {
  const parts = /^(.+)\.(asc|desc)$/.exec(text ?? '')
  return parts?.[1] ? { column: parts[1], direction: parts[2] === 'asc' ? 'asc' : 'desc' } : null
}

const readCondition = (text: string): FilterCondition | null => {
  const parts = /^(.+?)\.(\w+)\.(.*)$/s.exec(text)
  const operator = tableFilterOperators.find((each) => each === parts?.[2])
  return parts?.[1] && operator ? { column: parts[1], operator, value: parts[3] ?? '' } : null
}

export const writeSort = ({ column, direction }: SortOrder): string => `${column}.${direction}`
export const writeCondition = ({ column, operator, value }: FilterCondition): string => `${column}.${operator}.${value}`

/** Returns the next order of a column: descending, ascending, then the default of the page. */
export const getNextSort = (current: SortOrder | null, column: string): SortOrder | null => {
  if (current?.column !== column) return { column, direction: 'desc' }
  return current.direction === 'desc' ? { column, direction: 'asc' } : null
}

/** Returns the table parameters in the URL, such as `p.name`. */
export const readTableParameters = (
  table: Pick<TableInfo, 'parameters'>,
  search: ReadableParameters,
): Record<string, string> =>
  Object.fromEntries(
    table.parameters.flatMap(({ name }) => {
      const value = search.get(`p.${name}`)
      return value === null ? [] : [[name, value]]
    }),
  )

/** Returns the query parameters of the table API for the display options. */
export const toTableQuery = (
  state: TableState,
  values: Record<string, string>,
  { timezone, range }: { timezone: string; range: TimeRange | null },
): URLSearchParams => {
  const query = new URLSearchParams({ limit: String(state.limit), timezone, ...values })
  for (const [name, value] of Object.entries(range ? toWindow(range) : {})) query.set(name, String(value))
  if (state.sort) query.set('sort', writeSort(state.sort))
  for (const condition of state.conditions) query.append('filter', writeCondition(condition))
  if (state.search) query.set('search', state.search)
  if (state.cursor !== null) query.set('cursor', state.cursor)
  else if (state.offset > 0) query.set('offset', String(state.offset))
  return query
}

/** Returns the query parameters of the table API for an export of all rows. */
export const toExportQuery = (query: URLSearchParams, format: ExportFormat): URLSearchParams => {
  const whole = new URLSearchParams(query)
  whole.delete('limit')
  whole.delete('offset')
  whole.delete('cursor')
  whole.set('format', format)
  return whole
}

/** File formats with label and file extension. */
export const tableExportFormats = Object.values({
  csv: { format: 'csv', label: 'CSV', extension: 'csv' },
  tsv: { format: 'tsv', label: 'TSV', extension: 'tsv' },
  jsoneachrow: { format: 'jsoneachrow', label: 'JSON lines', extension: 'jsonl' },
} satisfies { [Format in ExportFormat]: { format: Format; label: string; extension: string } })

/** Describes which rows are shown: `Rows 501–1,000 of 12,345`. */
export const describeRowRange = (
  offset: number,
  rows: number,
  total: number | null,
  write: (count: number) => string,
): string => {
  const ofTotal = total === null ? '' : ` of ${write(total)}`
  if (offset === 0 && (total === null || total === rows)) return `${write(rows)} ${rows === 1 ? 'row' : 'rows'}`
  if (rows === 0) return total === null ? 'No more rows' : `No more rows; ${write(total)} in total`
  return `Rows ${write(offset + 1)}–${write(offset + rows)}${ofTotal}`
}
