/** A report in sections of text, tables and charts, independent of the output format. */
export interface ReportDocument {
  title: string
  subtitle: string
  headline: string
  sections: readonly ReportSection[]
}

export interface ReportSection {
  title: string
  blocks: readonly ReportBlock[]
}

export type ReportBlock =
  | { kind: 'text'; text: string }
  | { kind: 'statement'; sql: string }
  | { kind: 'table'; columns: readonly Column[]; rows: readonly (readonly string[])[] }
  | ReportChart

interface Column {
  title: string
  isNumber?: boolean
}

/** A bar chart over time, with gaps for missing values. */
export interface ReportChart {
  kind: 'chart'
  title: string
  /** The largest value. It is already formatted, as are the ends of the time axis, `from` and `to`. */
  highest: string
  from: string
  to: string
  values: readonly (number | null)[]
}

/** Returns right-aligned table columns for numbers. */
export const createNumberColumns = (...titles: string[]): Column[] => titles.map((title) => ({ title, isNumber: true }))
/** Returns table columns for text. */
export const createTextColumns = (...titles: string[]): Column[] => titles.map((title) => ({ title }))

/** Formats a value. Returns a dash for null. */
export const formatOrDash = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value)

/** Returns a section with one table; undefined if the table has no rows. */
export const createTableSection = (
  title: string,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): ReportSection | undefined => (rows.length === 0 ? undefined : { title, blocks: [{ kind: 'table', columns, rows }] })
