import type { CellFormat, TableInfo } from '#proto/catalogue.ts'
import type { Filter } from '#proto/query.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import { lookBack } from '#proto/look-back.ts'
import { toWindow, type Range, type ReadableParameters } from '#lib/state/range.ts'

/** Operators of a filter, as the API spells them. */
export const operators = [
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
] as const satisfies readonly Filter['operator'][]

export const operatorLabels: Record<Filter['operator'], string> = {
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

/** What makes sense for a column: a text has no size, a number no parts, and only an instant an age. */
export const operatorsFor = (format: CellFormat, isNumeric: boolean): Filter['operator'][] => {
  const isInstant = format === 'time' || format === 'relative-time'
  const senseless = new Set<Filter['operator']>([
    ...(isNumeric ? (['contains', 'notContains'] as const) : (['lt', 'le', 'gt', 'ge', 'between'] as const)),
    ...(isInstant ? [] : (['withinHours'] as const)),
  ])
  return operators.filter((each) => !senseless.has(each))
}

/** What is typed as the value of a filter. */
export const valueHint = (operator: Filter['operator']): string => {
  if (operator === 'between') return 'Two values, separated by a comma'
  if (operator === 'withinHours') return 'Hours'
  return operator === 'in' || operator === 'notIn' ? 'Values, separated by commas' : 'Value'
}

export interface Sort {
  column: string
  direction: 'asc' | 'desc'
}

/** A filter as the URL and the API state it: `column.operator.value`. */
export interface Condition {
  column: string
  operator: Filter['operator']
  value: string
}

/** The rows that a page may hold: enough to read, few enough to ask for again every minute. */
export const limits = [100, 500, 2_000, 10_000] as const
export const defaultLimit = 500

/** What the reader has chosen of a table page. */
export interface TableState {
  sort: Sort | null
  conditions: readonly Condition[]
  search: string
  limit: number
  /** Rows before those shown. */
  offset: number
  /** Columns shown although they are hidden by default. */
  added: readonly string[]
}

/** Reads the choices from the URL; what cannot be understood is left out. */
export const readTableState = (parameters: ReadableParameters): TableState => ({
  sort: readSort(parameters.get('sort')),
  conditions: parameters.getAll('filter').flatMap((text) => readCondition(text) ?? []),
  search: parameters.get('search') ?? '',
  limit: limits.find((limit) => String(limit) === parameters.get('limit')) ?? defaultLimit,
  offset: readOffset(parameters.get('offset')),
  added: parameters.get('columns')?.split(',').filter(Boolean) ?? [],
})

const readOffset = (text: string | null): number => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0)

const readSort = (text: string | null): Sort | null => {
  const parts = /^(.+)\.(asc|desc)$/.exec(text ?? '')
  return parts?.[1] ? { column: parts[1], direction: parts[2] === 'asc' ? 'asc' : 'desc' } : null
}

const readCondition = (text: string): Condition | null => {
  const parts = /^(.+?)\.(\w+)\.(.*)$/s.exec(text)
  const operator = operators.find((each) => each === parts?.[2])
  return parts?.[1] && operator ? { column: parts[1], operator, value: parts[3] ?? '' } : null
}

export const writeSort = ({ column, direction }: Sort): string => `${column}.${direction}`
export const writeCondition = ({ column, operator, value }: Condition): string => `${column}.${operator}.${value}`

/** The next order of a column: largest first, smallest first, then the order of the page again. */
export const nextSort = (current: Sort | null, column: string): Sort | null => {
  if (current?.column !== column) return { column, direction: 'desc' }
  return current.direction === 'desc' ? { column, direction: 'asc' } : null
}

/** The values that the reader gave for parameters of a page: `p.name` in the URL. */
export const givenParameters = (
  table: Pick<TableInfo, 'parameters'>,
  search: ReadableParameters,
): Record<string, string> =>
  Object.fromEntries(
    table.parameters.flatMap(({ name }) => {
      const value = search.get(`p.${name}`)
      return value === null ? [] : [[name, value]]
    }),
  )

/** How many hours a page looks back until its reader says otherwise; undefined for one that shows the present moment. */
export const usualHoursOf = ({ parameters }: Pick<TableInfo, 'parameters'>): number | undefined => {
  const declared = parameters.find(({ name }) => name === lookBack)
  return declared && Number(declared.default)
}

/** The query of the API that answers for these choices. */
export const toTableQuery = (
  state: TableState,
  values: Record<string, string>,
  { timezone, range }: { timezone: string; range: Range | null },
): URLSearchParams => {
  const query = new URLSearchParams({ limit: String(state.limit), timezone, ...values })
  for (const [name, value] of Object.entries(range ? toWindow(range) : {})) query.set(name, String(value))
  if (state.sort) query.set('sort', writeSort(state.sort))
  for (const condition of state.conditions) query.append('filter', writeCondition(condition))
  if (state.search) query.set('search', state.search)
  if (state.offset > 0) query.set('offset', String(state.offset))
  return query
}

/** The same choices as a file: from the first row to the last that the service gives, however many are shown. */
export const toExportQuery = (query: URLSearchParams, format: ExportFormat): URLSearchParams => {
  const whole = new URLSearchParams(query)
  whole.delete('limit')
  whole.delete('offset')
  whole.set('format', format)
  return whole
}

/** Every format of a file, and how it and the file are called. */
export const exportForms = Object.values({
  csv: { format: 'csv', label: 'CSV', extension: 'csv' },
  tsv: { format: 'tsv', label: 'TSV', extension: 'tsv' },
  jsoneachrow: { format: 'jsoneachrow', label: 'JSON lines', extension: 'jsonl' },
} satisfies { [Format in ExportFormat]: { format: Format; label: string; extension: string } })

/** What the rows shown are out of: `501–1,000 of 12,345`. */
export const spanOf = (
  offset: number,
  rows: number,
  total: number | null,
  write: (count: number) => string,
): string => {
  const counted = total === null ? '' : ` of ${write(total)}`
  if (offset === 0 && (total === null || total === rows)) return `${write(rows)} ${rows === 1 ? 'row' : 'rows'}`
  if (rows === 0) return total === null ? 'No rows from here on' : `No rows from here on; there are ${write(total)}`
  return `Rows ${write(offset + 1)}–${write(offset + rows)}${counted}`
}
