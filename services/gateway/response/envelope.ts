import type { Request, Response } from 'express'
import { addDateTimes } from '#proto/http/date-times.ts'
import { sendFrames } from './send.ts'

/** Returns the body of a successful response, unless the specification fixes another format. */
export const createSuccessBody = <D, M>(data: D, metadata: M) => ({ success: true as const, data, metadata })

/** A stream of rows, and the metadata that follows them. */
export interface RowStream<M> {
  /** Column names and types, if no definition lists them. */
  columns?: unknown
  frames: AsyncIterable<Uint8Array>
  /** Returns the metadata; called after the last frame. */
  metadata: () => M
}

/** Sends rows as a success response. */
export const sendRows = (request: Request, response: Response, rows: RowStream<unknown>): Promise<void> =>
  sendFrames(
    request,
    response,
    { 'Content-Type': 'application/json' },
    wrapRows(rows.frames, rows.metadata, rows.columns),
  )

const newline = 0x0a
const comma = 0x2c
const separator = Uint8Array.of(comma)
const encoder = new TextEncoder()

/**
 * Yields JSONEachRow rows as the `data` array of a response, or with `columns` as the `rows` of its `data`. Rows are
 * not parsed: newlines only end rows, so every newline but the last becomes a comma. Nothing is yielded before the
 * first frame arrives, so that a statement that fails at once has its own status.
 */
export async function* wrapRows(
  frames: AsyncIterable<Uint8Array>,
  metadata: () => unknown,
  columns?: unknown,
): AsyncGenerator<Uint8Array, void, void> {
  const before = columns === undefined ? '[' : `{"columns":${JSON.stringify(columns)},"rows":[`
  let opening: Uint8Array | undefined = encoder.encode(`{"success":true,"data":${before}`)
  let endsRow = false
  for await (const frame of frames) {
    if (frame.length === 0) continue
    if (opening) yield opening
    opening = undefined
    if (endsRow) yield separator
    endsRow = frame[frame.length - 1] === newline
    yield separated(endsRow ? frame.subarray(0, -1) : frame)
  }
  if (opening) yield opening
  const after = columns === undefined ? ']' : ']}'
  yield encoder.encode(`${after},"metadata":${addDateTimes(JSON.stringify(metadata()))}}`)
}

/** Returns a copy of the frame with commas instead of newlines; the original may be in use elsewhere. */
const separated = (frame: Uint8Array): Uint8Array => {
  const rows = Buffer.from(frame)
  for (let at = rows.indexOf(newline); at !== -1; at = rows.indexOf(newline, at + 1)) rows[at] = comma
  return rows
}
