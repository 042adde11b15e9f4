import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import compression from 'compression'
import type { Response, Request } from 'express'
import { releaseBytes } from '#shared/bus/body.ts'
import { createClientClosedError } from './http-exchange.ts'

/** A response of another service, forwarded as it arrives. */
export interface ForwardedResponse {
  status: number
  headers: Readonly<Record<string, string>>
  /** The complete body, or a stream. */
  body: string | AsyncIterable<Uint8Array>
}

/** Responses up to this size are sent with one write. */
const shortBytes = 256 * 1024

/** Forwards a response at the speed of the reader; ends when the caller disconnects. Only short bodies are buffered. */
export const sendStream = async (response: Response, { status, headers, body }: ForwardedResponse): Promise<void> => {
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
  await waitUntilSent(pipeline(body, response))
}

/**
 * Sends frames as they arrive, at the speed of the reader; ends when the caller disconnects. The status line waits
 * for the first frame, so that a request that fails at once has its own status.
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
  await waitUntilSent(pipeline(startingWith(first.value, body), response))
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

/** Sends a gzipped body; decompresses it for callers that do not accept gzip. */
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
    await waitUntilSent(pipeline(Readable.from([body]), createGunzip(), response))
  }
}

/** Error codes of streams whose reader disconnected before or after the first byte. */
const disconnectErrorCodes: ReadonlySet<unknown> = new Set(['ERR_STREAM_UNABLE_TO_PIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** Waits until a response is sent; throws `createClientClosedError()` if the caller disconnected. */
const waitUntilSent = async (sending: Promise<void>): Promise<void> => {
  try {
    await sending
  } catch (error) {
    throw error instanceof Error && 'code' in error && disconnectErrorCodes.has(error.code)
      ? createClientClosedError()
      : error
  }
}

/** A file as a stream. The values of its trailers are known after the last byte. */
export interface Download {
  fileName: string
  contentType: string
  /** The content. Frames must not be used elsewhere, because their memory is released once they are sent. */
  frames: AsyncIterable<Uint8Array>
  /** Returns the trailers; called after the last frame. */
  trailers: () => Readonly<Record<string, string>>
  trailerNames: readonly string[]
}

/** Sends a file at the speed of the reader; ends the frames when the caller disconnects. */
export const sendDownload = async (request: Request, response: Response, download: Download): Promise<void> => {
  const { fileName, contentType, trailerNames } = download
  const head = {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    ...(hasChunks(request) && { Trailer: trailerNames.join(', ') }),
  }
  await sendFrames(request, response, head, withTrailers(response, download))
}

/** Returns true if trailers can be sent: they need chunked encoding, which HTTP/1.0 and HEAD do not have. */
const hasChunks = ({ httpVersion, method }: Request): boolean => httpVersion !== '1.0' && method !== 'HEAD'

async function* withTrailers(
  response: Response,
  { frames, trailers }: Download,
): AsyncGenerator<Uint8Array, void, void> {
  yield* releasingSent(response, frames)
  if (response.hasHeader('Trailer')) response.addTrailers(trailers())
}

/** Maximum number of frames that a socket can still be writing; a frame is about as large as one socket write. */
const maxInTransit = 2

async function* releasingSent(
  response: Response,
  frames: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let written: Uint8Array[] = []
  const onSent = (): void => {
    // Compression may still read a written frame, and buffered bytes are not sent yet: neither can be released.
    if (!response.hasHeader('Content-Encoding') && response.writableLength === 0) written.forEach(releaseBytes)
    written = []
  }
  response.on('drain', onSent)
  try {
    for await (const frame of frames) {
      // Small frames cause no drain event and are left to the garbage collector.
      written = [...written.slice(1 - maxInTransit), frame]
      yield frame
    }
  } finally {
    response.off('drain', onSent)
    response.once('finish', onSent)
  }
}

/** Sends a JSON body. */
export const sendJson = (request: Request, response: Response, status: number, body: unknown): void => {
  sendText(request, response, status, JSON.stringify(body))
}

/** Sends text, by default as JSON; compresses it if it has at least `minCompressedBytes`. */
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
  if (length < minCompressedBytes) end(response, text)
  else compress(request, response, () => response.end(text))
}

/** Content security policy of pages: that of API responses, with inline styles allowed. */
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Sends a self-contained HTML page without scripts. */
export const sendPage = (request: Request, response: Response, html: string): void => {
  response.setHeader('Content-Security-Policy', pagePolicy)
  sendText(request, response, 200, html, 'text/html; charset=utf-8')
}

/** Minimum size for compression. Smaller responses fit into a few packets, and compression costs more than it saves. */
const minCompressedBytes = 4_096

const middleware = compression({ threshold: 0 })

/** Calls `write` so that its output is compressed if the caller accepts compression. */
const compress = (request: Request, response: Response, write: () => void): void => {
  middleware(request, response, write)
}

/**
 * Ends a response after the current iteration of the event loop. All responses of one iteration are then sent
 * together, so that an idle client wakes up once for all of them.
 */
const end = (response: Response, body: string | Buffer): void => void setImmediate(() => response.end(body))
