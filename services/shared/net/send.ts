import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib'
import { type Agent, type Dispatcher, request } from 'undici'
import { NetFailure, toNetFailure } from './failure.ts'

// With these options, decoders return data as it arrives and accept a truncated or empty body, as browsers do.
const gzip = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH }

const decoders = new Map([
  ['gzip', () => createGunzip(gzip)],
  ['br', () => createBrotliDecompress(brotli)],
])

/** The value of the `Accept-Encoding` header. */
const acceptedCodings = [...decoders.keys()].join(', ')

/** Returns the decoded body; unchanged if the content coding is unknown. */
const decodeBody = (body: Readable, coding: string | string[] | undefined): Readable => {
  const open = decoders.get(String(coding).toLowerCase())
  // A failure of either stream destroys both and reaches the reader.
  return open ? pipeline(body, open(), () => {}) : body
}

const defaultTimeoutMs = 10_000
const defaultMaxBytes = 1024 * 1024

type GivenHeaders = Headers | Record<string, string> | [string, string][]

/** A request without its address. The limits apply to the whole exchange including the body. */
export interface OutgoingRequest {
  method?: string | undefined
  headers?: GivenHeaders | undefined
  body?: string | Uint8Array<ArrayBuffer> | undefined
  signal?: AbortSignal | null | undefined
  timeoutMs?: number | undefined
  /** Maximum size of the response body after decompression; a larger body fails while it is read. */
  maxBytes?: number | undefined
}

/** Headers that determine routing and framing; callers cannot set them. */
const forbiddenHeaders = [
  'host',
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * Sends one request within its limits, without following redirects. Throws `NetFailure`, or the reason of the signal.
 */
export const send = async (agent: Agent, url: URL, outgoing: OutgoingRequest): Promise<Response> => {
  const { method = 'GET', body, signal, timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = outgoing
  const host = url.hostname
  const late = AbortSignal.timeout(timeoutMs)
  const translate = (error: unknown): unknown => {
    if (signal?.aborted) return signal.reason
    return late.aborted ? new NetFailure('timeout', { host }) : toNetFailure(host, error)
  }
  const headers = createHeaders(host, outgoing.headers)
  const either = signal ? AbortSignal.any([signal, late]) : late
  const options = { method, headers, body: body ?? null, signal: either, dispatcher: agent }
  const answer = await request(url, options).catch((error: unknown) => {
    throw translate(error)
  })
  const { statusCode: status, statusText } = answer
  if (status >= 300 && status < 400 && status !== 304) {
    // Destroying the body early emits an error, which needs a listener.
    answer.body.on('error', () => {}).destroy()
    throw new NetFailure('redirect', { host })
  }
  const hasBody = method !== 'HEAD' && !bodilessStatuses.has(status)
  if (!hasBody) answer.body.resume()
  const read = hasBody ? decodeBody(answer.body, answer.headers['content-encoding']) : null
  return createBoundedResponse(
    { status, statusText, headers: listHeaderPairs(answer.headers), body: read },
    { host, maxBytes, translate },
  )
}

/** Statuses of responses without a body. */
const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304])

const listHeaderPairs = (headers: Dispatcher.ResponseData['headers']): [string, string][] =>
  Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  )

const defaultHeaders = { accept: '*/*', 'accept-encoding': acceptedCodings, 'user-agent': 'Watchhouse' } as const

const createHeaders = (host: string, given: GivenHeaders | undefined): Record<string, string> => {
  const headers = readHeaders(given)
  if (!headers || forbiddenHeaders.some((name) => headers.has(name)))
    throw new NetFailure('not-allowed', { host, rule: 'header' })
  return { ...defaultHeaders, ...Object.fromEntries(headers) }
}

/**
 * Converts the headers. Returns undefined if one is invalid, such as a value with a line break, which would inject a
 * header.
 */
const readHeaders = (given: GivenHeaders | undefined): Headers | undefined => {
  try {
    return new Headers(given)
  } catch {
    return undefined
  }
}

interface ResponseParts {
  status: number
  statusText: string
  headers: Iterable<[string, string]>
  /** The response body; null for statuses without a body. */
  body: AsyncIterable<Uint8Array<ArrayBuffer>> | null
}

interface Bounds {
  host: string
  /** Maximum size of the body after decompression. */
  maxBytes: number
  /** Converts an error of the body stream to the error that the reader receives. */
  translate(error: unknown): unknown
}

/** Returns the response with a body that fails when it exceeds `maxBytes`. */
const createBoundedResponse = ({ status, statusText, headers, body }: ResponseParts, bounds: Bounds): Response =>
  new Response(body ? toReadableStream(limitBody(body, bounds)) : null, {
    status,
    statusText,
    headers: [...headers],
  })

const toReadableStream = (
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void>,
): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return()
    },
  })

async function* limitBody(body: AsyncIterable<Uint8Array<ArrayBuffer>>, { host, maxBytes, translate }: Bounds) {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new NetFailure('too-large', { host })
      yield chunk
    }
  } catch (error) {
    throw translate(error)
  }
}
