import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'

/** An answer of another service, to be handed on as it comes. */
export interface Handed {
  status: number
  headers: Readonly<Record<string, string>>
  frames: AsyncIterable<Uint8Array>
}

/**
 * Hands an answer on, no faster than the caller reads; a caller who leaves ends it. Nothing of it waits for more, but the head of an
 * answer that says its length waits for the rest, which is there already.
 */
export const sendStream = async (response: Response, { status, headers, frames }: Handed): Promise<void> => {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (headers['content-length'] === undefined) response.flushHeaders()
  await pipeline(frames, response)
}
