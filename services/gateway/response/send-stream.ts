import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Response, Request } from 'express'
import { callerLeft } from './http-error.ts'
import { end, compress } from './send-text.ts'

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

/**
 * Answers with bytes as they come, no faster than the caller reads; a caller who leaves ends them. The head waits for
 * the first piece, so that what fails at once has a status of its own.
 */
export const sendFrames = async (
  request: Request,
  response: Response,
  head: Readonly<Record<string, string>>,
  body: AsyncGenerator<Uint8Array, void, void>,
): Promise<void> => {
  const first = await body.next()
  response.statusCode = 200
  for (const [name, value] of Object.entries(head)) response.setHeader(name, value)
  if (request.method === 'HEAD' || first.done) {
    await body.return()
    response.end()
    return
  }
  const compressed = Promise.withResolvers<void>()
  compress(request, response, compressed.resolve)
  await compressed.promise
  await orLeft(pipeline(startingWith(first.value, body), response))
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

/** Answers with a body that is gzipped already; who does not accept that gets it unpacked on the way. */
export const sendGzipped = async (
  request: Request,
  response: Response,
  body: Buffer,
  mediaType: string,
): Promise<void> => {
  response.statusCode = 200
  response.setHeader('Content-Type', mediaType)
  response.setHeader('Vary', 'Accept-Encoding')
  if (request.acceptsEncodings('gzip', 'identity') === 'gzip') {
    response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Content-Length', body.length)
    response.end(body)
  } else if (request.method === 'HEAD') {
    response.end()
  } else {
    await orLeft(pipeline(Readable.from([body]), createGunzip(), response))
  }
}

/** What streams say of an answer that its caller no longer takes, before its first byte and after it. */
const closed: ReadonlySet<unknown> = new Set(['ERR_STREAM_UNABLE_TO_PIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** Waits for an answer that is being sent; a caller who has left meanwhile is told as that, and is no failure of ours. */
const orLeft = async (sending: Promise<void>): Promise<void> => {
  try {
    await sending
  } catch (error) {
    throw error instanceof Error && 'code' in error && closed.has(error.code) ? callerLeft() : error
  }
}
