import { z } from 'zod'
import type { ServiceError } from '#proto/errors.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { failureBehindRows, parseException, hostFailure, statementFailure } from './failure.ts'
import type { HostBody } from './host-body.ts'

/** Bytes of a whole answer; charts and key figures are far below, row pages are streamed instead. */
export const maxAnswerBytes = 32 * 1024 * 1024
/** Of one that is short: to read a million rows where one is due, again and again, would take the time of all other hosts. */
export const maxShortAnswerBytes = 1024 * 1024
const maxFailureBytes = 64 * 1024

export interface Column {
  name: string
  type: string
}

const Columns = z.custom<readonly Column[]>((data) => Array.isArray(data) && data.every(isColumn))

/** Looked at and not copied, as there may be a million cells, and what they hold is for their readers to say. */
const Cells = z.custom<readonly (readonly unknown[])[]>((data) => Array.isArray(data) && data.every(Array.isArray))

const Body = z.object({
  meta: Columns,
  data: Cells,
  statistics: z.object({ rows_read: z.coerce.number().catch(0), bytes_read: z.coerce.number().catch(0) }).optional(),
  exception: z.string().optional(),
})

const isColumn = (given: Partial<Record<string, unknown>> | null): given is Record<keyof Column, string> =>
  typeof given?.name === 'string' && typeof given.type === 'string'

/** Columns and rows of a whole answer. 64-bit integers are numbers when they fit, else strings. */
export interface Rows {
  columns: readonly Column[]
  rows: readonly (readonly unknown[])[]
  rowsRead: number
  bytesRead: number
}

/** Reads a `JSONCompact` body; a failure that a host noticed after its first byte is found in there. */
export const parseAnswer = (host: MonitoredHost, text: string): Rows => {
  const body = Body.safeParse(parseJson(text))
  if (!body.success) throw failureWithin(host, text)
  if (body.data.exception !== undefined) throw failureWithin(host, body.data.exception)
  const { meta, data, statistics } = body.data
  return {
    columns: meta,
    rows: narrowed(meta, data),
    rowsRead: statistics?.rows_read ?? 0,
    bytesRead: statistics?.bytes_read ?? 0,
  }
}

/** 64-bit integers as numbers where they fit. */
export const narrowed = (columns: readonly Column[], rows: Rows['rows']): Rows['rows'] => {
  const wide = columns.map((column) => isWideInteger(column.type))
  if (!wide.includes(true)) return rows
  return rows.map((row) => row.map((value, index) => (wide[index] ? narrow(value) : value)))
}

const failureWithin = (host: MonitoredHost, text: string): ServiceError => {
  // Rows may quote other failures.
  const exception = parseException(text.slice(Math.max(0, text.indexOf(failureBehindRows))))
  return exception ? statementFailure(host, exception) : hostFailure(host, 'garbage')
}

/** Whether values of a type may be integers that a number cannot hold. */
export const isWideInteger = (type: string): boolean =>
  /^(?:(?:Nullable|LowCardinality)\()*U?Int(?:64|128|256)/.test(type)

/** A number for text that is an integer a number can hold; anything else as it is. */
export const narrow = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** The beginning of a body that says what went wrong. */
export const readFailure = async (body: HostBody): Promise<string> => {
  let bytes: Buffer = Buffer.alloc(0)
  while (bytes.length <= maxFailureBytes) {
    const more = await body.take(bytes)
    if (!more) return bytes.toString('utf8')
    bytes = more
  }
  body.leave()
  return bytes.toString('utf8')
}
