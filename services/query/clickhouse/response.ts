import { z } from 'zod'
import type { ServiceError } from '#proto/errors.ts'
import { parseJson } from '#shared/text/strings.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { exceptionAfterRowsPrefix, parseException, createHostError, toStatementError } from './failure.ts'
import type { HostBody } from './host-body.ts'

/** Maximum size of a buffered response, in bytes. Charts and key metrics stay far below; row pages are streamed. */
export const maxBufferedResponseBytes = 32 * 1024 * 1024
/** Maximum size of a short response, in bytes. Parsing a longer one would delay the requests of other hosts. */
export const maxShortResponseBytes = 1024 * 1024
const maxFailureBytes = 64 * 1024

export interface Column {
  name: string
  type: string
}

const Columns = z.custom<readonly Column[]>((data) => Array.isArray(data) && data.every(isColumn))

/** Checks the shape without copying, because there may be a million cells; readers validate the values. */
const Cells = z.custom<readonly (readonly unknown[])[]>((data) => Array.isArray(data) && data.every(Array.isArray))

const Body = z.object({
  meta: Columns,
  data: Cells,
  statistics: z.object({ rows_read: z.coerce.number().catch(0), bytes_read: z.coerce.number().catch(0) }).optional(),
  exception: z.string().optional(),
})

const isColumn = (column: Partial<Record<string, unknown>> | null): column is Record<keyof Column, string> =>
  typeof column?.name === 'string' && typeof column.type === 'string'

/** Columns and rows of a buffered response. 64-bit integers are numbers when they fit, else strings. */
export interface ResultRows {
  columns: readonly Column[]
  rows: readonly (readonly unknown[])[]
  rowsRead: number
  bytesRead: number
}

/** Parses a `JSONCompact` body. Throws the exception that a host has written after the rows. */
export const parseResponse = (host: MonitoredHost, text: string): ResultRows => {
  const body = Body.safeParse(parseJson(text))
  if (!body.success) throw failureWithin(host, text)
  if (body.data.exception !== undefined) throw failureWithin(host, body.data.exception)
  const { meta, data, statistics } = body.data
  return {
    columns: meta,
    rows: narrowIntegers(meta, data),
    rowsRead: statistics?.rows_read ?? 0,
    bytesRead: statistics?.bytes_read ?? 0,
  }
}

/** Returns the rows with 64-bit integers as numbers where they fit. */
export const narrowIntegers = (columns: readonly Column[], rows: ResultRows['rows']): ResultRows['rows'] => {
  const wide = columns.map((column) => isWideInteger(column.type))
  if (!wide.includes(true)) return rows
  return rows.map((row) => row.map((value, index) => (wide[index] ? narrowInteger(value) : value)))
}

const failureWithin = (host: MonitoredHost, text: string): ServiceError => {
  // Rows may contain the text of other exceptions, so the search starts after them.
  const exception = parseException(text.slice(Math.max(0, text.indexOf(exceptionAfterRowsPrefix))))
  return exception ? toStatementError(host, exception) : createHostError(host, 'garbage')
}

/** Returns whether the type may hold integers beyond the safe integer range. */
export const isWideInteger = (type: string): boolean =>
  /^(?:(?:Nullable|LowCardinality)\()*U?Int(?:64|128|256)/.test(type)

/** Returns a number for the text of a safe integer, and any other value unchanged. */
export const narrowInteger = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Returns the beginning of the body of an error response. */
export const readErrorBody = async (body: HostBody): Promise<string> => {
  let bytes: Buffer = Buffer.alloc(0)
  while (bytes.length <= maxFailureBytes) {
    const more = await body.take(bytes)
    if (!more) return bytes.toString('utf8')
    bytes = more
  }
  body.leave()
  return bytes.toString('utf8')
}
