import { ServiceError } from '#proto/errors.ts'
import type { HostBody } from '../clickhouse/host-body.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import {
  drainBody,
  readRemainingError,
  parseFailure,
  maxRowBytes,
  type RowStreamSummary,
  splitIntoPieces,
  type RemainingLimits,
} from './rows.ts'

/** The row format: in CSV, values in quotes may contain newlines; in TSV, every newline ends a row. */
export interface TextFormat {
  isQuoted: boolean
}

const newline = 0x0a
const quote = 0x22
const tab = 0x09
const failureStarts = ['Code: ', '\r\n__exception__', '__exception__'].map((text) => Buffer.from(text))
/** Whether a byte may begin an exception; a lookup table, because every row is checked. */
const mayBeginFailure = Array.from({ length: 256 }, (_, byte) => failureStarts.some((start) => start[0] === byte))

/**
 * Yields the bytes of CSV or TSV in pieces that end with a row: the column names and up to `limit` rows. Throws the
 * exception that a host writes instead of a row. The names are yielded with the first row, so that an exception in its
 * place is thrown before any output. A piece is valid until the next one is requested.
 */
export async function* streamTextRows(
  host: MonitoredHost,
  body: HostBody,
  format: TextFormat,
  limit = Number.POSITIVE_INFINITY,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, RowStreamSummary, void> {
  let rest: Buffer = Buffer.alloc(0)
  let lines = 0
  let passed = 0
  for (let bytes = await body.take(); bytes; bytes = await body.take(rest)) {
    const cut = wholeLines(bytes, { rows: limit + 1 - lines, bytes: maxBytes - passed }, format)
    const isNames = lines === 0 && cut.lines === 1 && !cut.tooLong
    const end = isNames ? 0 : cut.end
    yield* splitIntoPieces(bytes.subarray(0, end))
    if (cut.failed) throw await readRemainingError(host, bytes.subarray(cut.end), body)
    lines += isNames ? 0 : cut.lines
    passed += end
    rest = bytes.subarray(end)
    if (lines > limit && rest.length > 0 && begins(rest, 0, format) === 'row') {
      return { rows: limit, truncated: await drainBody(body) }
    }
    if (cut.tooLong) return { rows: Math.max(0, lines - 1), truncated: true }
    if (rest.length > maxRowBytes)
      throw new ServiceError('too-large', `host ${host.name} sent a row of more than ${maxRowBytes} bytes`)
  }
  const { end } = wholeLines(rest, { rows: 1, bytes: maxBytes }, format)
  if (end < rest.length) throw parseFailure(host, rest.subarray(end))
  yield* splitIntoPieces(rest)
  return { rows: Math.max(0, lines - 1), truncated: false }
}

interface Cut {
  /** Offset of the first byte after the last complete line. */
  end: number
  lines: number
  /** Whether the next line exceeds the byte limit. */
  tooLong: boolean
  /** Whether an exception follows. */
  failed: boolean
}

const wholeLines = (bytes: Buffer, remaining: RemainingLimits, format: TextFormat): Cut => {
  const cut: Cut = { end: 0, lines: 0, tooLong: false, failed: false }
  while (cut.end < bytes.length) {
    const beginning = begins(bytes, cut.end, format)
    if (beginning === 'failure') return { ...cut, failed: true }
    if (cut.lines >= remaining.rows) break
    const next = format.isQuoted ? endOfQuotedLine(bytes, cut.end) : bytes.indexOf(newline, cut.end)
    const isTooLong = (next === -1 ? bytes.length : next + 1) > remaining.bytes
    if (isTooLong && beginning === 'row') return { ...cut, tooLong: true }
    if (next === -1) break
    cut.end = next + 1
    cut.lines++
  }
  return cut
}

/** Returns the position of the newline that ends a line, or -1. A doubled quote ends one value and starts the next. */
const endOfQuotedLine = (bytes: Buffer, start: number): number => {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === newline) return at
    if (byte !== quote) continue
    // Quoted values are long, and the native search is faster than this loop.
    at = bytes.indexOf(quote, at + 1)
    if (at === -1) return -1
  }
  return -1
}

/** Returns whether a row or an exception begins here. CSV quotes strings, so only TSV rows can look like exceptions. */
const begins = (bytes: Buffer, at: number, { isQuoted }: TextFormat): 'row' | 'failure' | 'unknown' => {
  if (!mayBeginFailure[bytes[at] ?? 0] || !startsLikeFailure(bytes, at)) return 'row'
  if (isQuoted) return 'failure'
  const end = bytes.indexOf(newline, at)
  if (bytes.subarray(at, end === -1 ? undefined : end).includes(tab)) return 'row'
  return end === -1 ? 'unknown' : 'failure'
}

const startsLikeFailure = (bytes: Buffer, at: number): boolean =>
  failureStarts.some((start) => start.compare(bytes, at, Math.min(bytes.length, at + start.length)) === 0)
