import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { end } from './end.ts'
import { orLeft } from './or-left.ts'

/** An answer of another service, to be handed on as it comes. */
export interface Handed {
  status: number
  headers: Readonly<Record<string, string>>
  /** All of it, or as it comes. */
  body: string | AsyncIterable<Uint8Array>
}

/** Answers up to this many bytes leave in one piece. */
const shortBytes = 256 * 1024

/** Hands an answer on, no faster than the caller reads; a caller who leaves ends it. Nothing of it waits for more, unless it is short. */
export const sendStream = async (response: Response, { status, headers, body }: Handed): Promise<void> => {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (typeof body === 'string') {
    end(response, body)
    return
  }
  const length = headers['content-length']
  if (length !== undefined && Number(length) <= shortBytes) {
    end(response, Buffer.concat(await Array.fromAsync(body)))
    return
  }
  response.flushHeaders()
  await orLeft(pipeline(body, response))
}
