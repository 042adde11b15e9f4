import Table from 'cli-table3'
import type { List, Tone } from './output.ts'
import { fitWidth, measureWidth, toSafeLine } from './terminal-text.ts'

/** One column of a list. */
export interface Column<T> {
  title: string
  value(row: T): string | number | null | undefined
  isRight?: boolean
  tone?(row: T): Tone | undefined
}

interface Style {
  width: number
  paint(text: string, tone: Tone | undefined): string
}

/** The gap between two columns. */
const gap = 2
/** A column is not truncated to less. */
const minWidth = 8

const noBorders = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'left-mid']
    .concat(['mid', 'mid-mid', 'right', 'right-mid'])
    .map((name) => [name, '']),
)

/** The columns that fit into the terminal, with their widths. */
export interface Layout<T> {
  columns: readonly Column<T>[]
  widths: readonly number[]
  /** Titles of the last columns, for which there is no room. */
  hidden: readonly string[]
}

/** Chooses the widths of columns by their titles and rows. The last columns are hidden if there is no room for them. */
export const layOutColumns = <T>({ rows, columns }: Pick<List<T>, 'rows' | 'columns'>, width: number): Layout<T> => {
  const natural = columns.map(({ title, value }) =>
    rows.reduce(
      (widest, row) => Math.max(widest, measureWidth(formatText(value(row)))),
      measureWidth(toSafeLine(title)),
    ),
  )
  let count = columns.length
  const leastWidth = () =>
    sum(natural.slice(0, count).map((each) => Math.min(each, minWidth))) + gap * Math.max(0, count - 1)
  while (count > 1 && leastWidth() > width) count -= 1
  return {
    columns: columns.slice(0, count),
    widths: shrinkToFit(natural.slice(0, count), width - gap * (count - 1)),
    hidden: columns.slice(count).map(({ title }) => title),
  }
}

interface RowStyle extends Pick<Style, 'paint'> {
  hasHeader: boolean
}

/** Formats rows as aligned columns. */
export const formatRows = <T>(
  rows: readonly T[],
  { columns, widths }: Layout<T>,
  { paint, hasHeader }: RowStyle,
): string[] => {
  if (rows.length === 0 && !hasHeader) return []
  const fit = (text: string, index: number) => fitWidth(text, widths[index] ?? 0)
  const table = new Table({
    head: hasHeader ? columns.map(({ title }, index) => paint(fit(toSafeLine(title), index), 'strong')) : [],
    colWidths: [...widths],
    colAligns: columns.map(({ isRight }) => (isRight ? 'right' : 'left')),
    chars: { ...noBorders, middle: ' '.repeat(gap) },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  })
  for (const row of rows)
    table.push(columns.map(({ value, tone }, index) => paint(fit(formatText(value(row)), index), tone?.(row))))
  return table
    .toString()
    .split('\n')
    .map((text) => text.trimEnd())
}

const formatText = (value: string | number | null | undefined): string => toSafeLine(String(value ?? '–'))

/** Reduces the widest columns until all fit into `available`. */
const shrinkToFit = (natural: readonly number[], available: number): number[] => {
  const widths = [...natural]
  for (let excess = sum(widths) - available; excess > 0; excess = sum(widths) - available) {
    const widest = Math.max(...widths)
    if (widest <= minWidth) return widths
    const second = Math.max(minWidth, ...widths.filter((width) => width < widest))
    const index = widths.indexOf(widest)
    widths[index] = Math.max(second, widest - excess, minWidth)
    if (widths[index] === widest) widths[index] = widest - 1
  }
  return widths
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
