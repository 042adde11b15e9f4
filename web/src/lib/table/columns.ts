import type { CellFormat } from '#proto/catalogue.ts'
import type { Column } from './cell.ts'

/** Creates a column for a table without a definition. */
export const createColumn = (
  name: string,
  label: string,
  format: CellFormat = 'text',
  more: Partial<Pick<Column, 'doc' | 'href' | 'bar' | 'states'>> = {},
): Column => ({ name, label, format, bar: false, hidden: false, ...more })
