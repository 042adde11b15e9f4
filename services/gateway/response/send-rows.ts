import type { Request, Response } from 'express'
import { rowEnvelope } from './row-envelope.ts'
import { sendFrames } from './send-frames.ts'

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
