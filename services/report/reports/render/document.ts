/** A report as it is laid out, whatever it is rendered as. */
export interface Document {
  title: string
  subtitle: string
  verdict: string
  sections: readonly Section[]
}

export interface Section {
  title: string
  blocks: readonly Block[]
}

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'statement'; sql: string }
  | { kind: 'table'; columns: readonly Column[]; rows: readonly (readonly string[])[] }
  | Chart

interface Column {
  title: string
  isNumber?: boolean
}

/** Bars over time; a gap where there is no value. */
export interface Chart {
  kind: 'chart'
  title: string
  /** The largest value and the ends of the axis, in words. */
  highest: string
  from: string
  to: string
  values: readonly (number | null)[]
}

/** Columns of numbers. */
export const numeric = (...titles: string[]): Column[] => titles.map((title) => ({ title, isNumber: true }))
/** Columns of words. */
export const plain = (...titles: string[]): Column[] => titles.map((title) => ({ title }))

/** What cannot be told is a dash. */
export const known = (value: number | null, words: (value: number) => string): string =>
  value === null ? '–' : words(value)

/** A section that is one table; none without rows. */
export const tableSection = (
  title: string,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): Section | undefined => (rows.length === 0 ? undefined : { title, blocks: [{ kind: 'table', columns, rows }] })
