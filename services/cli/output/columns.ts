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

/** Formats rows as aligned columns with a header that fit into the terminal. */
export const formatColumns = <T>({ rows, columns }: Pick<List<T>, 'rows' | 'columns'>, style: Style): string[] => {
  const cells = rows.map((row) => columns.map(({ value }) => toSafeLine(String(value(row) ?? '–'))))
  const natural = columns.map(({ title }, index) =>
    Math.max(measureWidth(title), ...cells.map((row) => measureWidth(row[index] ?? ''))),
  )
  const widths = shrinkToFit(natural, style.width - gap * (columns.length - 1))
  const fit = (text: string, index: number) => fitWidth(text, widths[index] ?? 0)
  const table = new Table({
    head: columns.map(({ title }, index) => style.paint(fit(title, index), 'strong')),
    colAligns: columns.map(({ isRight }) => (isRight ? 'right' : 'left')),
    chars: { ...noBorders, middle: ' '.repeat(gap) },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  })
  cells.forEach((row, position) => {
    // The cells were created from the rows in the same order.
    const source = rows[position] as T
    table.push(row.map((text, index) => style.paint(fit(text, index), columns[index]?.tone?.(source))))
  })
  return table
    .toString()
    .split('\n')
    .map((text) => text.trimEnd())
}

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
