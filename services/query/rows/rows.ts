import type { ResultColumn } from '#proto/console.ts'
import { ServiceError } from '#proto/errors.ts'
import { maxFrameBytes } from '#shared/bus/limits.ts'
import { parseException, createHostError, toStatementError } from '../clickhouse/failure.ts'
import type { HostBody } from '../clickhouse/host-body.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

const maxFailureBytes = 64 * 1024
export const maxRowBytes = 16 * 1024 * 1024
const newline = 0x0a
const brace = 0x7b
const bracket = 0x5b

/** The summary of a streamed result: the number of rows that were sent, and whether the result was truncated. */
export interface RowStreamSummary {
  rows: number
  truncated: boolean
}

export interface RowStreamOptions {
  /** Maximum size of all rows, in bytes. The result ends before the row that would exceed it. */
  maxBytes?: number
  /** The columns of `JSONCompactEachRow`, whose rows are arrays instead of objects. */
  columns?: readonly Pick<ResultColumn, 'type'>[]
}

/**
 * Yields the bytes of `JSONEachRow` in pieces that end with a row, up to `limit` rows. Throws the exception that a host
 * writes instead of a row. A piece is valid until the next one is requested.
 */
export async function* streamRows(
  host: MonitoredHost,
  body: HostBody,
  limit = Number.POSITIVE_INFINITY,
  { maxBytes = Number.POSITIVE_INFINITY, columns }: RowStreamOptions = {},
): AsyncGenerator<Buffer, RowStreamSummary, void> {
  const form = columns ? compactForm(columns) : objectForm
  let rest: Buffer = Buffer.alloc(0)
  let rows = 0
  let passed = 0
  for (let bytes = await body.take(); bytes; bytes = await body.take(rest)) {
    const cut = wholeRows(bytes, { rows: limit - rows, bytes: maxBytes - passed }, form)
    const rowBytes = bytes.subarray(0, cut.end)
    yield* splitIntoPieces(rowBytes)
    rows += cut.rows
    passed += cut.end
    rest = bytes.subarray(cut.end)
    if (cut.failed) throw await readRemainingError(host, rest, body)
    if (cut.ended) {
      await drainBody(body)
      return { rows, truncated: false }
    }
    if (cut.full && rest.length > 0) return { rows, truncated: await drainBody(body) }
    if (cut.tooLong) return { rows, truncated: true }
    if (rest.length > maxRowBytes)
      throw new ServiceError('too-large', `host ${host.name} sent a row of more than ${maxRowBytes} bytes`)
  }
  if (rest.length > 0) throw parseFailure(host, rest)
  return { rows, truncated: false }
}

/** Reads the rest of a body if it is short, usually one row, because reading costs less than killing the statement. */
export const drainBody = async (body: HostBody): Promise<true> => {
  let size = 0
  for (let piece = await body.take(); piece && size <= maxFrameBytes; piece = await body.take()) size += piece.length
  return true
}

/** The numbers of rows and bytes that may still be sent to the caller. */
export interface RemainingLimits {
  rows: number
  bytes: number
}

interface Cut {
  /** Offset of the first byte after the last complete row. */
  end: number
  rows: number
  /** Whether the row limit is reached. */
  full: boolean
  /** Whether the next row exceeds the byte limit. */
  tooLong: boolean
  /** Whether an exception follows instead of a row. */
  failed: boolean
  /** Whether totals follow, which older servers send after an empty line. */
  ended: boolean
}

const wholeRows = (bytes: Buffer, remaining: RemainingLimits, form: RowForm): Cut => {
  const cut: Cut = { end: 0, rows: 0, full: false, tooLong: false, failed: false, ended: false }
  while (cut.end < bytes.length) {
    if (bytes[cut.end] === newline) return { ...cut, ended: true }
    if (!beginsRow(bytes, cut.end, form)) return { ...cut, failed: true }
    if (cut.rows >= remaining.rows) break
    const next = bytes.indexOf(newline, cut.end)
    if ((next === -1 ? bytes.length : next + 1) > remaining.bytes) return { ...cut, tooLong: true }
    if (next === -1) break
    cut.end = next + 1
    cut.rows++
  }
  return { ...cut, full: cut.rows >= remaining.rows }
}

/** The first bytes of rows, and of the exceptions that servers such as 24.8 and 25.8 write as a row by default. */
interface RowForm {
  opening: number
  failure: Buffer
  isFailure(line: string): boolean
}

const objectForm: RowForm = { opening: brace, failure: Buffer.from('{"exception"'), isFailure: () => true }

/** Returns the row form. A row with one text cell may be an exception, except in a result with a single text column. */
const compactForm = (columns: NonNullable<RowStreamOptions['columns']>): RowForm => ({
  opening: bracket,
  failure: Buffer.from('["Code: '),
  isFailure: (line) =>
    /^\["(?:[^"\\]|\\.)*"\]$/.test(line) && (columns.length > 1 || !/String|Enum/.test(columns[0]?.type ?? '')),
})

const beginsRow = (bytes: Buffer, at: number, { opening, failure, isFailure }: RowForm): boolean => {
  if (bytes[at] !== opening) return false
  if (!bytes.subarray(at, at + failure.length).equals(failure)) return true
  const end = bytes.indexOf(newline, at)
  return !isFailure(bytes.toString('utf8', at, end === -1 ? undefined : end))
}

/** Splits bytes after complete rows into pieces of at most one frame. Only rows longer than a frame are split. */
export function* splitIntoPieces(bytes: Buffer): Generator<Buffer, void, void> {
  let start = 0
  while (start < bytes.length) {
    const most = Math.min(bytes.length, start + maxFrameBytes)
    const lastRow = most === bytes.length ? most : bytes.lastIndexOf(newline, most - 1) + 1
    const end = lastRow > start ? lastRow : most
    yield bytes.subarray(start, end)
    start = end
  }
}

export const readRemainingError = async (
  host: MonitoredHost,
  beginning: Buffer,
  body: HostBody,
): Promise<ServiceError> => {
  let bytes = beginning
  try {
    while (bytes.length <= maxFailureBytes) {
      const more = await body.take(bytes)
      if (!more) break
      bytes = more
    }
  } catch (error) {
    // Servers close the connection after such an exception, to mark the response as incomplete.
    if (!parseException(bytes.toString('utf8'))) throw error
  }
  return parseFailure(host, bytes)
}

export const parseFailure = (host: MonitoredHost, bytes: Buffer): ServiceError => {
  const exception = parseException(bytes.toString('utf8'))
  return exception ? toStatementError(host, exception) : createHostError(host, 'garbage')
}
