import { ServiceError } from '#proto/errors.ts'
import { frameBytes } from '#shared/bus/limits.ts'
import { parseException } from './clickhouse/exception.ts'
import { hostFailure, statementFailure } from './clickhouse/failure.ts'
import type { HostBody } from './clickhouse/host-body.ts'
import type { MonitoredHost } from './hosts/host-list.ts'

const maxFailureBytes = 64 * 1024
export const maxRowBytes = 16 * 1024 * 1024
const newline = 0x0a
const brace = 0x7b
const bracket = 0x5b
const exceptionRow = Buffer.from('{"exception"')

/** How many rows went by, and whether there were more than wanted. */
export interface Passed {
  rows: number
  truncated: boolean
}

/** What else decides which rows pass. */
export interface Passing {
  /** Rows are cut off before one that would make them longer than this. */
  maxBytes?: number
  /** A row is an array, as in `JSONCompactEachRow`, instead of an object. */
  isCompact?: boolean
}

/**
 * Passes `JSONEachRow` bytes on in pieces that end with a row, up to `limit` rows. A failure that the host noticed
 * after its first byte stands where a row should begin, and is thrown. A piece may be read until the next one is asked for.
 */
export async function* passRows(
  host: MonitoredHost,
  body: HostBody,
  limit = Number.POSITIVE_INFINITY,
  { maxBytes = Number.POSITIVE_INFINITY, isCompact = false }: Passing = {},
): AsyncGenerator<Buffer, Passed, void> {
  const opening = isCompact ? bracket : brace
  let rest: Buffer = Buffer.alloc(0)
  let rows = 0
  let passed = 0
  for (let bytes = await body.take(); bytes; bytes = await body.take(rest)) {
    const cut = wholeRows(bytes, { rows: limit - rows, bytes: maxBytes - passed }, opening)
    const rowBytes = bytes.subarray(0, cut.end)
    yield* pieces(rowBytes)
    rows += cut.rows
    passed += cut.end
    rest = bytes.subarray(cut.end)
    if (cut.failed) throw await failureAfter(host, rest, body)
    if (cut.full && rest.length > 0) return { rows, truncated: await drained(body) }
    if (cut.tooLong) return { rows, truncated: true }
    if (rest.length > maxRowBytes)
      throw new ServiceError('too-large', `host ${host.name} sent a row of more than ${maxRowBytes} bytes`)
  }
  if (rest.length > 0) throw failureIn(host, rest)
  return { rows, truncated: false }
}

/**
 * Mostly only the one row that was asked for on top is left; reading it costs less than ending the statement early.
 * What is longer is ended.
 */
export const drained = async (body: HostBody): Promise<true> => {
  let size = 0
  for (let piece = await body.take(); piece && size <= frameBytes; piece = await body.take()) size += piece.length
  return true
}

/** How much more may pass. */
export interface Wanted {
  rows: number
  bytes: number
}

interface Cut {
  /** Where the last whole row ends. */
  end: number
  rows: number
  /** As many rows as wanted are in. */
  full: boolean
  /** The next row would be more bytes than wanted. */
  tooLong: boolean
  /** What follows is no row. */
  failed: boolean
}

const wholeRows = (bytes: Buffer, wanted: Wanted, opening: number): Cut => {
  const cut: Cut = { end: 0, rows: 0, full: false, tooLong: false, failed: false }
  while (cut.end < bytes.length) {
    if (!beginsRow(bytes, cut.end, opening)) return { ...cut, failed: true }
    if (cut.rows >= wanted.rows) break
    const next = bytes.indexOf(newline, cut.end)
    if ((next === -1 ? bytes.length : next + 1) > wanted.bytes) return { ...cut, tooLong: true }
    if (next === -1) break
    cut.end = next + 1
    cut.rows++
  }
  return { ...cut, full: cut.rows >= wanted.rows }
}

const beginsRow = (bytes: Buffer, at: number, opening: number): boolean =>
  bytes[at] === opening && !bytes.subarray(at, at + exceptionRow.length).equals(exceptionRow)

/** Cuts after rows where it can; only a row that is longer than a piece is cut within. */
export function* pieces(bytes: Buffer): Generator<Buffer, void, void> {
  let start = 0
  while (start < bytes.length) {
    const most = Math.min(bytes.length, start + frameBytes)
    const lastRow = most === bytes.length ? most : bytes.lastIndexOf(newline, most - 1) + 1
    const end = lastRow > start ? lastRow : most
    yield bytes.subarray(start, end)
    start = end
  }
}

export const failureAfter = async (host: MonitoredHost, beginning: Buffer, body: HostBody): Promise<ServiceError> => {
  let bytes = beginning
  try {
    while (bytes.length <= maxFailureBytes) {
      const more = await body.take(bytes)
      if (!more) break
      bytes = more
    }
  } catch (error) {
    // Servers cut the connection after such a failure, so that nobody takes the answer for a whole one.
    if (!parseException(bytes.toString('utf8'))) throw error
  }
  return failureIn(host, bytes)
}

export const failureIn = (host: MonitoredHost, bytes: Buffer): ServiceError => {
  const exception = parseException(bytes.toString('utf8'))
  return exception ? statementFailure(host, exception) : hostFailure(host, 'garbage')
}
