import type { CellFormat } from '#proto/catalogue.ts'
import type { z } from 'zod'
import type { Column } from './columns.ts'
import { formatBytes, formatCount, formatInstant, formatSeconds } from './format.ts'
import type { OutputMode } from './output.ts'

/** Returns a value of a host as text: numbers and texts as they are, everything else as JSON. */
export const formatCell = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

interface TableColumn {
  name: string
  label?: string | undefined
  format: z.infer<typeof CellFormat>
  hidden: boolean
}

type Row = Readonly<Record<string, unknown>>

/** Returns the columns of a table page: formatted on a terminal, with raw values and names in pipes. */
export const createPageColumns = (columns: readonly TableColumn[], mode: OutputMode): Column<Row>[] =>
  mode === 'terminal'
    ? columns
        .filter(({ hidden }) => !hidden)
        .map(({ name, label = name, format }) => ({
          title: label.toUpperCase(),
          value: (row) => formatByFormat(row[name], format),
          isRight: formatters[format] !== undefined,
        }))
    : columns.map(({ name }) => ({ title: name, value: (row) => formatCell(row[name]) }))

const formatByFormat = (value: unknown, format: z.infer<typeof CellFormat>): string | null => {
  const formatter = formatters[format]
  // 64-bit integers beyond the range of a number are text.
  const number = typeof value === 'number' ? value : Number(value ?? Number.NaN)
  return formatter && Number.isFinite(number) ? formatter(number) : formatCell(value)
}

const formatters: Partial<Record<z.infer<typeof CellFormat>, (value: number) => string>> = {
  number: formatCount,
  rows: formatCount,
  bytes: formatBytes,
  'duration-seconds': formatSeconds,
  'duration-ms': (value) => formatSeconds(value / 1e3),
  'duration-us': (value) => formatSeconds(value / 1e6),
  percent: (value) => `${Number(value.toFixed(1))}%`,
  ratio: (value) => `${Number(value.toFixed(2))}×`,
  time: formatInstant,
  'relative-time': formatInstant,
}
