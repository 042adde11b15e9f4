import { ServiceError } from '#proto/errors.ts'
import type { HostBody } from '../clickhouse/host-body.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { drained, failureAfter, failureIn, maxRowBytes, type Passed, pieces, type Wanted } from './rows.ts'

/** How rows are told apart: in csv a newline between quotes belongs to a value, in tsv there is none within a row. */
export interface TextFormat {
  isQuoted: boolean
}

const newline = 0x0a
const quote = 0x22
const tab = 0x09
const failureStarts = ['Code: ', '\r\n__exception__', '__exception__'].map((text) => Buffer.from(text))
/** By byte; a table, for it is asked about each row. */
const mayBeginFailure = Array.from({ length: 256 }, (_, byte) => failureStarts.some((start) => start[0] === byte))

/**
 * Passes csv or tsv bytes on in pieces that end with a row: the names of the columns, and up to `limit` rows. A failure
 * that the host noticed after its first byte stands where a row should begin, and is thrown; the names wait for the first
 * row, so that in its place nothing has passed yet. A piece may be read until the next one is asked for.
 */
export async function* passTextRows(
  host: MonitoredHost,
  body: HostBody,
  format: TextFormat,
  limit = Number.POSITIVE_INFINITY,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, Passed, void> {
  let rest: Buffer = Buffer.alloc(0)
  let lines = 0
  let passed = 0
  for (let bytes = await body.take(); bytes; bytes = await body.take(rest)) {
    const cut = wholeLines(bytes, { rows: limit + 1 - lines, bytes: maxBytes - passed }, format)
    const isNames = lines === 0 && cut.lines === 1 && !cut.tooLong
    const passing = isNames ? 0 : cut.end
    yield* pieces(bytes.subarray(0, passing))
    if (cut.failed) throw await failureAfter(host, bytes.subarray(cut.end), body)
    lines += isNames ? 0 : cut.lines
    passed += passing
    rest = bytes.subarray(passing)
    if (lines > limit && rest.length > 0 && begins(rest, 0, format) === 'row') {
      return { rows: limit, truncated: await drained(body) }
    }
    if (cut.tooLong) return { rows: Math.max(0, lines - 1), truncated: true }
    if (rest.length > maxRowBytes)
      throw new ServiceError('too-large', `host ${host.name} sent a row of more than ${maxRowBytes} bytes`)
  }
  const { end } = wholeLines(rest, { rows: 1, bytes: maxBytes }, format)
  if (end < rest.length) throw failureIn(host, rest.subarray(end))
  yield* pieces(rest)
  return { rows: Math.max(0, lines - 1), truncated: false }
}

interface Cut {
  /** Where the last whole line ends. */
  end: number
  lines: number
  /** The next line would be more bytes than wanted. */
  tooLong: boolean
  /** What follows says what went wrong. */
  failed: boolean
}

const wholeLines = (bytes: Buffer, wanted: Wanted, format: TextFormat): Cut => {
  const cut: Cut = { end: 0, lines: 0, tooLong: false, failed: false }
  while (cut.end < bytes.length) {
    const beginning = begins(bytes, cut.end, format)
    if (beginning === 'failure') return { ...cut, failed: true }
    if (cut.lines >= wanted.rows) break
    const next = format.isQuoted ? endOfQuotedLine(bytes, cut.end) : bytes.indexOf(newline, cut.end)
    const isTooLong = (next === -1 ? bytes.length : next + 1) > wanted.bytes
    if (isTooLong && beginning === 'row') return { ...cut, tooLong: true }
    if (next === -1) break
    cut.end = next + 1
    cut.lines++
  }
  return cut
}

/** The newline that ends the line; a quote within a value is doubled, so the value is as good as two. */
const endOfQuotedLine = (bytes: Buffer, start: number): number => {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === newline) return at
    if (byte !== quote) continue
    // Values between quotes are the long ones, and native code looks through them faster.
    at = bytes.indexOf(quote, at + 1)
    if (at === -1) return -1
  }
  return -1
}

/** Texts are quoted in csv, so no row begins like a failure; in tsv a first value may, but others follow it. */
const begins = (bytes: Buffer, at: number, { isQuoted }: TextFormat): 'row' | 'failure' | 'unknown' => {
  if (!mayBeginFailure[bytes[at] ?? 0] || !startsLikeFailure(bytes, at)) return 'row'
  if (isQuoted) return 'failure'
  const end = bytes.indexOf(newline, at)
  if (bytes.subarray(at, end === -1 ? undefined : end).includes(tab)) return 'row'
  return end === -1 ? 'unknown' : 'failure'
}

const startsLikeFailure = (bytes: Buffer, at: number): boolean =>
  failureStarts.some((start) => start.compare(bytes, at, Math.min(bytes.length, at + start.length)) === 0)
