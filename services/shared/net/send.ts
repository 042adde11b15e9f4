import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib'
import { type Agent, type Dispatcher, request } from 'undici'
import { NetFailure, failureOf } from './failure.ts'

// What has come is read at once, and a body that ends too early, or never began, ends there: so do browsers take it.
const gzip = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH }

const decoders = new Map([
  ['gzip', () => createGunzip(gzip)],
  ['br', () => createBrotliDecompress(brotli)],
])

/** The codings in which a body may come to us, as a request says it. */
const acceptedCodings = [...decoders.keys()].join(', ')

/** The body as it was before it was coded for its way; as it came where its coding is none that we know. */
const decoded = (body: Readable, coding: string | string[] | undefined): Readable => {
  const open = decoders.get(String(coding).toLowerCase())
  // A failure of either ends both, and reaches the reader.
  return open ? pipeline(body, open(), () => {}) : body
}

const defaultTimeoutMs = 10_000
const defaultMaxBytes = 1024 * 1024

type GivenHeaders = Headers | Record<string, string> | [string, string][]

/** What is sent besides the address; the bounds hold for the whole exchange, body included. */
export interface OutgoingRequest {
  method?: string | undefined
  headers?: GivenHeaders | undefined
  body?: string | Uint8Array<ArrayBuffer> | undefined
  signal?: AbortSignal | null | undefined
  timeoutMs?: number | undefined
  /** Of the answer's body after decompression; a longer one fails while it is read. */
  maxBytes?: number | undefined
}

/** Headers that say where a request goes or how it is framed, which the address and the body alone decide. */
const ownHeaders = [
  'host',
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** One request, within its bounds and without following redirects. Throws `NetFailure`, or the reason of the caller's signal. */
export const send = async (agent: Agent, url: URL, outgoing: OutgoingRequest): Promise<Response> => {
  const { method = 'GET', body, signal, timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = outgoing
  const host = url.hostname
  const late = AbortSignal.timeout(timeoutMs)
  const translate = (error: unknown): unknown => {
    if (signal?.aborted) return signal.reason
    return late.aborted ? new NetFailure('timeout', { host }) : failureOf(host, error)
  }
  const headers = headersFor(host, outgoing.headers)
  const either = signal ? AbortSignal.any([signal, late]) : late
  const options = { method, headers, body: body ?? null, signal: either, dispatcher: agent }
  const answer = await request(url, options).catch((error: unknown) => {
    throw translate(error)
  })
  const { statusCode: status, statusText } = answer
  if (status >= 300 && status < 400 && status !== 304) {
    // A response that is abandoned early reports this to its listeners.
    answer.body.on('error', () => {}).destroy()
    throw new NetFailure('redirect', { host })
  }
  const hasBody = method !== 'HEAD' && !bodiless.has(status)
  if (!hasBody) answer.body.resume()
  const read = hasBody ? decoded(answer.body, answer.headers['content-encoding']) : null
  return boundedAnswer(
    { status, statusText, headers: pairsOf(answer.headers), body: read },
    { host, maxBytes, translate },
  )
}

/** Statuses whose answers have no body at all. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

const pairsOf = (headers: Dispatcher.ResponseData['headers']): [string, string][] =>
  Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  )

const unlessGiven = { accept: '*/*', 'accept-encoding': acceptedCodings, 'user-agent': 'Watchhouse' } as const

const headersFor = (host: string, given: GivenHeaders | undefined): Record<string, string> => {
  const headers = readHeaders(given)
  if (!headers || ownHeaders.some((name) => headers.has(name)))
    throw new NetFailure('not-allowed', { host, rule: 'header' })
  return { ...unlessGiven, ...Object.fromEntries(headers) }
}

/** Undefined for some that cannot be sent: a line break in a value would begin a header of its own. */
const readHeaders = (given: GivenHeaders | undefined): Headers | undefined => {
  try {
    return new Headers(given)
  } catch {
    return undefined
  }
}

interface Answered {
  status: number
  statusText: string
  headers: Iterable<[string, string]>
  /** Null for a status whose answers have none. */
  body: AsyncIterable<Uint8Array<ArrayBuffer>> | null
}

interface Bounds {
  host: string
  /** Of the body after decompression. */
  maxBytes: number
  /** What a failure of the body means. */
  translate(error: unknown): unknown
}

/** The same answer, whose body fails once it exceeds its bound. */
const boundedAnswer = ({ status, statusText, headers, body }: Answered, bounds: Bounds): Response =>
  new Response(body ? streamOf(bounded(body, bounds)) : null, {
    status,
    statusText,
    headers: [...headers],
  })

const streamOf = (chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void>): ReadableStream<Uint8Array<ArrayBuffer>> =>
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

async function* bounded(body: AsyncIterable<Uint8Array<ArrayBuffer>>, { host, maxBytes, translate }: Bounds) {
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
