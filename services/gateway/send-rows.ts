import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { compress } from './compress.ts'
import { rowEnvelope } from './row-envelope.ts'

/** Rows on their way, and what is said after them. */
export interface Rows<M> {
  frames: AsyncIterable<Uint8Array>
  /** Known once the frames have ended. */
  metadata: () => M
}

/** Answers with rows as they come, no faster than the caller reads; a caller who leaves ends the frames. */
export const sendRows = async (request: Request, response: Response, rows: Rows<unknown>): Promise<void> => {
  const body = rowEnvelope(rows.frames, rows.metadata)
  const first = await body.next()
  response.statusCode = 200
  response.setHeader('Content-Type', 'application/json')
  if (request.method === 'HEAD' || first.done) {
    await body.return()
    response.end()
    return
  }
  const compressed = Promise.withResolvers<void>()
  compress(request, response, compressed.resolve)
  await compressed.promise
  await pipeline(startingWith(first.value, body), response)
}

async function* startingWith(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield first
    yield* rest
  } finally {
    await rest.return()
  }
}
