import type { Row } from '#proto/query.ts'
import { isMono, toCell, type CellContext, type Column } from './cell.ts'

/** Rows looked at: what comes later is cut off rather than moving the columns while somebody scrolls. */
const sampledRows = 100
const narrowest = 5
const widest = 44
/** What nobody reads to the end: the statement beside it is what tells one query from another. */
const ofQueryId = 14
/** Room for the arrow of the order. */
const arrow = 2
/** Room for the edges of a badge, and for the shape beside the word of a state. */
const edges = 2
const shape = 3
/** By how much a capital is wider than a digit. */
const capital = 0.3

/** Width of a column in characters, from its name and its first rows; null for the one that takes what is left. */
export const columnWidth = (column: Column, rows: readonly Row[], context: CellContext): number | null => {
  if (column.format === 'query') return null
  const name = (column.label ?? column.name).length + arrow
  const texts = rows.slice(0, sampledRows).map((row) => {
    const { text, state } = toCell(column, row, context)
    const capitals = isMono(column) ? 0 : text.replaceAll(/[^A-Z]/g, '').length
    return Math.ceil(text.length + capital * capitals + (column.format === 'badge' ? edges : 0) + (state ? shape : 0))
  })
  return Math.min(column.href?.startsWith('/queries/') ? ofQueryId : widest, Math.max(narrowest, name, ...texts))
}

/** More than half of a phone is left to the columns after a long one. */
const partOfScreen = '55vw'
const room = '1.75rem'
/** What may be longer than that part. */
const longer = 20

/** The width of a column of so many characters, as CSS. */
export const columnSize = (characters: number): string =>
  `calc(${characters > longer ? `min(${characters}ch, ${partOfScreen})` : `${characters}ch`} + ${room})`

/** The width of all columns together; those without one of their own get this many characters at least. */
export const tableSize = (widths: readonly (number | null)[], openWidth: number): string =>
  `calc(${widths.map((width) => columnSize(width ?? openWidth)).join(' + ') || '0px'})`
