import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import compression from 'compression'
import type { Response, Request } from 'express'
import { giveBack } from '#shared/bus/body.ts'
import { callerLeft } from './http-exchange.ts'

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

/** A file on its way, and what is only known after its last byte. */
export interface Download {
  fileName: string
  contentType: string
  /** Nobody else reads them: their memory is given back once they are sent. */
  frames: AsyncIterable<Uint8Array>
  /** Sent as trailers. */
  trailers: () => Readonly<Record<string, string>>
  trailerNames: readonly string[]
}

/** Answers with a file as its bytes come, no faster than the caller reads; a caller who leaves ends the frames. */
export const sendDownload = async (request: Request, response: Response, download: Download): Promise<void> => {
  const { fileName, contentType, trailerNames } = download
  const head = {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    ...(hasChunks(request) && { Trailer: trailerNames.join(', ') }),
  }
  await sendFrames(request, response, head, withTrailers(response, download))
}

/** Trailers need chunks, which HTTP/1.0 does not know and an answer without a body has not. */
const hasChunks = ({ httpVersion, method }: Request): boolean => httpVersion !== '1.0' && method !== 'HEAD'

async function* withTrailers(
  response: Response,
  { frames, trailers }: Download,
): AsyncGenerator<Uint8Array, void, void> {
  yield* givenBack(response, frames)
  if (response.hasHeader('Trailer')) response.addTrailers(trailers())
}

/** Frames fill about one write of the socket each, so that two are under way at most. */
const underWay = 2

async function* givenBack(
  response: Response,
  frames: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let written: Uint8Array[] = []
  const onSent = (): void => {
    // What is compressed may still be read when all that was written has left; what waits for the socket has not left yet.
    if (!response.hasHeader('Content-Encoding') && response.writableLength === 0) written.forEach(giveBack)
    written = []
  }
  response.on('drain', onSent)
  try {
    for await (const frame of frames) {
      // Small frames leave without a word and are left to the collector.
      written = [...written.slice(1 - underWay), frame]
      yield frame
    }
  } finally {
    response.off('drain', onSent)
    response.once('finish', onSent)
  }
}

/** Answers with a JSON body. */
export const sendJson = (request: Request, response: Response, status: number, body: unknown): void => {
  sendText(request, response, status, JSON.stringify(body))
}

/** Answers with text: JSON where nothing else is said. */
export const sendText = (
  request: Request,
  response: Response,
  status: number,
  text: string,
  mediaType = 'application/json',
): void => {
  response.statusCode = status
  response.setHeader('Content-Type', mediaType)
  const length = Buffer.byteLength(text)
  response.setHeader('Content-Length', length)
  if (length < compressFromBytes) end(response, text)
  else compress(request, response, () => response.end(text))
}

/** As strict as for every answer of the API, but that the page may carry its own style. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Answers with a page of its own that runs and loads nothing. */
export const sendPage = (request: Request, response: Response, html: string): void => {
  response.setHeader('Content-Security-Policy', policy)
  sendText(request, response, 200, html, 'text/html; charset=utf-8')
}

/** Below this an answer fits few packets, and compressing it would cost more than it saves. */
const compressFromBytes = 4_096

const middleware = compression({ threshold: 0 })

/** Lets whatever is written from now on be compressed as the caller accepts; small answers never come here and pay nothing. */
const compress = (request: Request, response: Response, write: () => void): void => {
  middleware(request, response, write)
}

/**
 * Ends an answer with all of its body once the present turn of the event loop is over. All answers that one turn makes ready leave
 * together then, so that a caller that sleeps is woken once and not for each.
 */
const end = (response: Response, body: string | Buffer): void => void setImmediate(() => response.end(body))
