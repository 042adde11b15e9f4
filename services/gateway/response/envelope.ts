import type { Request, Response } from 'express'
import { sendFrames } from './send.ts'

/** The body of an answer whose shape the specification leaves open. */
export const success = <D, M>(data: D, metadata: M) => ({ success: true as const, data, metadata })

/** Rows on their way, and what is said after them. */
export interface Rows<M> {
  /** Where no definition names them. */
  columns?: unknown
  frames: AsyncIterable<Uint8Array>
  /** Known once the frames have ended. */
  metadata: () => M
}

/** Answers with rows in the envelope of answers. */
export const sendRows = (request: Request, response: Response, rows: Rows<unknown>): Promise<void> =>
  sendFrames(
    request,
    response,
    { 'Content-Type': 'application/json' },
    rowEnvelope(rows.frames, rows.metadata, rows.columns),
  )

const newline = 0x0a
const comma = 0x2c
const separator = Uint8Array.of(comma)
const encoder = new TextEncoder()

/**
 * Rows in JSONEachRow as the `data` array of an answer, or after their columns as the `rows` of its `data`, without
 * parsing them: a newline ends a row and occurs nowhere else, so every one but the last becomes a comma. Nothing is yielded before the first frame arrived, so a statement that
 * fails at once can still be answered with its own status.
 */
export async function* rowEnvelope(
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
  yield encoder.encode(`${after},"metadata":${JSON.stringify(metadata())}}`)
}

/** The frame with its newlines turned into commas; a copy, since the bytes may belong to somebody else. */
const separated = (frame: Uint8Array): Uint8Array => {
  const rows = Buffer.from(frame)
  for (let at = rows.indexOf(newline); at !== -1; at = rows.indexOf(newline, at + 1)) rows[at] = comma
  return rows
}
