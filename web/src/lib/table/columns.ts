import type { CellFormat } from '#proto/catalogue.ts'
import type { Column } from './cell.ts'

/** A column of a table that no definition describes. */
export const column = (
  name: string,
  label: string,
  format: CellFormat = 'text',
  more: Partial<Pick<Column, 'doc' | 'href' | 'bar' | 'states'>> = {},
): Column => ({ name, label, format, bar: false, hidden: false, ...more })
