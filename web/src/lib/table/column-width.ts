import type { Row } from '#proto/query.ts'
import { toCell, type CellContext, type Column } from './cell.ts'

/** Rows looked at: what comes later is cut off rather than moving the columns while somebody scrolls. */
const sampledRows = 100
const narrowest = 5
const widest = 44
/** Room for the arrow of the order. */
const arrow = 2
/** Room for the shape beside the word of a state, and what surrounds both. */
const shape = 4

/** Width of a column in characters, from its name and its first rows; null for the one that takes what is left. */
export const columnWidth = (column: Column, rows: readonly Row[], context: CellContext): number | null => {
  if (column.format === 'query') return null
  const name = (column.label ?? column.name).length + arrow
  const texts = rows.slice(0, sampledRows).map((row) => {
    const { text, state } = toCell(column, row, context)
    return text.length + (state ? shape : 0)
  })
  return Math.min(widest, Math.max(narrowest, name, ...texts))
}
