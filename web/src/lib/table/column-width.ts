import type { Row } from '#proto/query.ts'
import { isMonospace, toCell, type CellContext, type Column } from './cell.ts'

/** Number of rows that determine the width. Longer values in later rows are truncated, so that columns do not move. */
const sampledRows = 100
const minWidth = 5
const maxWidth = 44
/** Query ids are truncated, as the statement beside them identifies the query. */
const queryIdWidth = 14
/** Width of the sort arrow, in characters. */
const arrowWidth = 2
/** Widths of the badge padding and of the state symbol, in characters. */
const badgePaddingWidth = 2
const stateSymbolWidth = 3
/** Additional width of a capital letter compared with a digit, in characters. */
const capitalExtraWidth = 0.3

/** Returns the width of a column in characters; null for the column that takes the remaining space. */
export const computeColumnWidth = (column: Column, rows: readonly Row[], context: CellContext): number | null => {
  if (column.format === 'query') return null
  const name = (column.label ?? column.name).length + arrowWidth
  const texts = rows.slice(0, sampledRows).map((row) => {
    const { text, state } = toCell(column, row, context)
    const capitals = isMonospace(column) ? 0 : text.replaceAll(/[^A-Z]/g, '').length
    return Math.ceil(
      text.length +
        capitalExtraWidth * capitals +
        (column.format === 'badge' ? badgePaddingWidth : 0) +
        (state ? stateSymbolWidth : 0),
    )
  })
  return Math.min(column.href?.startsWith('/queries/') ? queryIdWidth : maxWidth, Math.max(minWidth, name, ...texts))
}

/** Maximum width of a long column, so that phones show other columns beside it. */
const maxLongColumnWidth = '55vw'
const cellPadding = '1.75rem'
/** Width in characters above which a column counts as long. */
const longColumnCharacters = 20

/** Returns the CSS width of a column, including its padding. */
export const formatColumnWidth = (characters: number): string =>
  `calc(${characters > longColumnCharacters ? `min(${characters}ch, ${maxLongColumnWidth})` : `${characters}ch`} + ${cellPadding})`

/** Returns the CSS width of a table. Columns with the width null get `openWidth` characters. */
export const formatTableWidth = (widths: readonly (number | null)[], openWidth: number): string =>
  `calc(${widths.map((width) => formatColumnWidth(width ?? openWidth)).join(' + ') || '0px'})`
