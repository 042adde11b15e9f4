import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { CellFormat } from '#proto/catalogue.ts'
import type { ServiceHandlers, StreamHandlerResult } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query, TableRequest } from '#proto/query.ts'
import { maxFilterOptions } from '#proto/table-page.ts'
import { parseJson } from '#shared/text/strings.ts'
import { findUnavailableReason } from '../clickhouse/availability.ts'
import { keyOf, type StreamResult } from '../clickhouse/client.ts'
import { toStatementFacts } from '../clickhouse/cost.ts'
import { createHostError } from '../clickhouse/failure.ts'
import { readHostClientLimits } from '../clickhouse/limits.ts'
import { openResultCache } from '../clickhouse/result-cache.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { numericFormats } from '../definitions/conditions.ts'
import { createCursor } from '../definitions/cursor.ts'
import { toTableInfo } from '../definitions/definitions.ts'
import {
  buildTableStatement,
  buildTotalStatement,
  buildFilterOptionsStatement,
} from '../definitions/table-statement.ts'
import type { LoadedTable } from '../definitions/load.ts'
import { type HistoryPage, readTableOrHistory } from '../history/table-history.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { streamRows } from '../rows/rows.ts'
import {
  prepareTablePage,
  type TablePage as OpenPage,
  readMaxRows,
  resolveDefaultLimit,
  resolveRowRange,
} from './prepare-table-page.ts'

type Table = ServiceHandlers<typeof query>['table']
type Page = Awaited<ReturnType<Table>>
type Head = Page['head']
type Tail = Page extends StreamHandlerResult<infer _Head, infer _Frame, infer T> ? T : never

/** A table page that is ready to run, with the head of its response. */
interface OpenedPage extends OpenPage {
  head: Omit<Head, 'unavailable'>
  parts: QueryHandlerDeps
  request: TableRequest
  call: CallContext
  statement: Statement
  limit: number | undefined
  /** Keeps the complete page for later requests. Undefined if the page must not be reused. */
  keep: ((page: SentPage) => void) | undefined
}

/** A page as it was sent. */
interface SentPage {
  frames: readonly Uint8Array[]
  bytes: number
  tail: Tail
}

/** Maximum size of the rows of a page that is kept, in bytes. */
const maxKeptBytes = 512 * 1024

/** Returns the handler that streams the rows of one table page. */
export const createTableHandler = (parts: QueryHandlerDeps): Table => {
  const recent = openResultCache<SentPage>(parts.clock.elapsedMs)
  const read = async (input: TableRequest, call: CallContext): Promise<Page> => {
    const rangeOf = (table: LoadedTable) =>
      resolveRowRange(parts, { ...input, limit: input.limit ?? resolveDefaultLimit(table) })
    const page = await prepareTablePage(parts, input, call, (definition, circumstances) => {
      const { limit, offset } = rangeOf(definition)
      return buildTableStatement(definition, { ...input, offset }, { ...circumstances, limit })
    })
    const { limit, offset } = rangeOf(page.table)
    const request = { ...input, offset }
    const head = { table: toTableInfo(page.table), limit: limit ?? null, maxRows: readMaxRows(parts) ?? null }
    if ('unavailable' in page) return { head: { ...head, unavailable: page.unavailable }, frames: nothing() }
    const { host, statement } = page
    // Further pages must match the time of the first one.
    const isFirst = offset === 0 && input.cursor === undefined
    const { cache } = isFirst && readHostClientLimits(parts.env).cache ? statement : {}
    if (!cache) return open({ ...page, head, parts, request, call, limit, keep: undefined })
    const key = JSON.stringify([keyOf(host, statement), limit, request.total])
    const sent = recent.get(key)
    if (sent) return { head: { ...head, unavailable: null }, frames: replay(sent) }
    const keep = (complete: SentPage) => recent.put(key, complete, complete.bytes, cache)
    return open({ ...page, head, parts, request, call, limit, keep })
  }
  return async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const table = parts.definitions.table(input.name)
    const { limit, offset } = resolveRowRange(parts, { ...input, limit: input.limit ?? resolveDefaultLimit(table) })
    const request = { ...input, offset }
    const page = await readTableOrHistory({ parts, host, table, request, limit, call }, () => read(input, call))
    if ('frames' in page) return page
    const head = { table: toTableInfo(table), limit: limit ?? null, maxRows: readMaxRows(parts) ?? null }
    return {
      head: { ...head, unavailable: null, history: page.history },
      frames: sendHistory(page, table, request, limit),
    }
  }
}

/** Sends the rows of a page of the history. */
async function* sendHistory(
  { rows }: HistoryPage,
  table: LoadedTable,
  request: TableRequest,
  limit = rows.length,
): AsyncGenerator<Uint8Array, Tail, void> {
  const lines = rows.slice(0, limit).map((row) => JSON.stringify(row))
  if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`)
  const isTruncated = rows.length > limit
  const isLastPage = !isTruncated && request.cursor === undefined && (lines.length > 0 || request.offset === 0)
  return {
    truncated: isTruncated,
    total: isLastPage ? request.offset + lines.length : null,
    nextCursor: isTruncated ? createCursor(table, request, lines.at(-1) ?? '') : null,
    statement: null,
  }
}

async function* replay({ frames, tail }: SentPage): AsyncGenerator<Uint8Array, Tail, void> {
  for (const frame of frames) yield new Uint8Array(frame)
  return tail
}

const open = async (opened: OpenedPage): Promise<Page> => {
  const { parts, head, host, table, statement, call } = opened
  try {
    const answer = await parts.client.stream(host, statement, call)
    return { head: { ...head, unavailable: null }, frames: frames(opened, answer) }
  } catch (error) {
    const unavailable = findUnavailableReason(parts.client, host, table, error)
    if (unavailable) return { head: { ...head, unavailable }, frames: nothing() }
    throw error
  }
}

async function* frames(opened: OpenedPage, answer: StreamResult): AsyncGenerator<Uint8Array, Tail, void> {
  const { host, table, statement, limit, circumstances, incomplete } = opened
  const started = performance.now()
  const passing = streamRows(host, answer.body, limit)
  const kept: Uint8Array[] = []
  let bytes = 0
  try {
    let lastRow = ''
    let next = await passing.next()
    while (!next.done) {
      lastRow = readLastRow(lastRow, next.value)
      // Without settings, older servers quote 64-bit integers.
      const frame = answer.readonly === 1 || statement.bare ? unquoteNumbers(next.value, table.columns) : next.value
      bytes += frame.byteLength
      // A copy, because the reader frees the frame.
      if (opened.keep && bytes <= maxKeptBytes) kept.push(new Uint8Array(frame))
      yield frame
      next = await passing.next()
    }
    const { rows, truncated } = next.value
    const ran = { ...answer, durationMs: performance.now() - started }
    const facts = toStatementFacts(host, statement, ran, rows, circumstances.zone, incomplete)
    const nextCursor = truncated ? createCursor(table, opened.request, lastRow) : null
    const tail = { truncated, total: await total(opened, rows, truncated), nextCursor, statement: facts }
    if (bytes <= maxKeptBytes) opened.keep?.({ frames: kept, bytes, tail })
    return tail
  } finally {
    answer.body.leave()
  }
}

const newline = 0x0a

/** Returns the text of the last row in the frames so far. The row may continue in the next frame. */
const readLastRow = (before: string, frame: Buffer): string => {
  const start = frame.length > 1 ? frame.lastIndexOf(newline, frame.length - 2) + 1 : 0
  const end = frame.toString('utf8', start)
  return start > 0 || before.endsWith('\n') ? end : before + end
}

/** Returns the total rows: derived on the last page, counted on request, else null. */
const total = async (opened: OpenedPage, rows: number, truncated: boolean): Promise<number | null> => {
  const { parts, host, table, request, call, circumstances } = opened
  const isLastPage = !truncated && request.cursor === undefined && (rows > 0 || request.offset === 0)
  if (isLastPage) return request.offset + rows
  const statement = request.total ? buildTotalStatement(table, request, circumstances) : undefined
  if (!statement) return null
  try {
    const counted = (await parts.client.run(host, statement, call)).rows[0]?.[0]
    return typeof counted === 'number' ? counted : null
  } catch (error) {
    // The rows are already sent, so a failed count does not fail the page.
    if (error instanceof ServiceError) return null
    throw error
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, Tail, void> {
  yield* []
  return { truncated: false, total: null, statement: null }
}

interface Column {
  name: string
  format: CellFormat
}

/** Converts quoted integers of numeric columns to numbers in complete `JSONEachRow` lines. */
export const unquoteNumbers = (frame: Buffer, columns: readonly Column[]): Buffer => {
  const numeric = columns.filter((column) => numericFormats.has(column.format)).map((column) => column.name)
  const lines = frame.toString('utf8').split('\n')
  return Buffer.from(lines.map((line) => (line === '' ? line : unquoteLine(line, numeric))).join('\n'))
}

const unquoteLine = (line: string, numeric: readonly string[]): string => {
  const row = parsed(line)
  if (row === undefined) return line
  const values = new Map(Object.entries(row))
  for (const name of numeric) {
    const value: unknown = values.get(name)
    const number = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
    if (Number.isSafeInteger(number)) values.set(name, number)
  }
  return JSON.stringify(Object.fromEntries(values))
}

/** Parses a complete row. Returns undefined for a fragment of a row that is longer than a frame. */
const parsed = (line: string): object | undefined => {
  const row = parseJson(line)
  return typeof row === 'object' && row !== null ? row : undefined
}

const Rows = z.array(z.tuple([z.string(), z.number()]))

/** Returns the handler for the values of a column of a table page. */
export const createFilterOptionsHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['filterOptions'] =>
  async (request, call) => {
    const page = await prepareTablePage(parts, request, call, (definition, circumstances) =>
      buildFilterOptionsStatement(definition, { ...request, limit: maxFilterOptions }, circumstances),
    )
    const none = { options: [], truncated: false }
    if ('unavailable' in page) return { ...none, unavailable: page.unavailable }
    const { host, table, statement } = page
    try {
      const rows = Rows.safeParse((await parts.client.run(host, statement, call)).rows)
      if (!rows.success) throw createHostError(host, 'garbage')
      const options = rows.data.slice(0, maxFilterOptions).map(([value, count]) => ({ value, rows: count }))
      return { options, truncated: rows.data.length > maxFilterOptions, unavailable: null }
    } catch (error) {
      const unavailable = findUnavailableReason(parts.client, host, table, error)
      if (unavailable) return { ...none, unavailable }
      throw error
    }
  }
