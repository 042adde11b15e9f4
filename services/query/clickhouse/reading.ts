import { failureBehindRows } from './failure.ts'
import { type HostBody, openArrivals } from './host-body.ts'
import type { Sending, Statement } from './statement.ts'

/** A statement as it goes to a host. */
export interface HostRequest {
  statement: Statement
  queryId: string
  sending: Sending
}

/** Sends requests to one host. */
export interface HostClient {
  /** Fails by `reading.ended`, or by throwing before anything was sent. */
  send(request: HostRequest, reading: Reading): Sent
  /** Requests whose answers have not ended. */
  readonly running: number
  /** Closes the connections once all answers have ended. */
  close(): void
  /** Closes the connections now. */
  destroy(): Promise<void>
}

/** What is made of an answer. */
export interface Reading {
  begun(statusCode: number, headers: Headers): void
  came(chunk: Buffer, flow: { pause(): void }): void
  /** Nothing more comes, with an error before the whole answer had come; may be called more than once. */
  ended(error?: Error): void
}

type Headers = Record<string, string | string[] | undefined>

/** A request on its way. */
export interface Sent {
  /** Ends it before its end. */
  abort(reason: Error): void
  /** Lets more come after a pause. */
  resume(): void
}

/** What bounds the reading of an answer. */
export interface Bounds {
  signal: AbortSignal
  /** Called with everything that comes, the head first. */
  heard: () => void
}

/** An answer of any status that has begun. */
export interface Begun {
  statusCode: number
  headers: Headers
  body: HostBody
}

/** Sends a request and waits for the head of its answer; no more of the body is read ahead than one piece. */
export const begin = (client: HostClient, request: HostRequest, { signal, heard }: Bounds): Promise<Begun> => {
  const { promise, resolve, reject } = Promise.withResolvers<Begun>()
  const arrivals = openArrivals(() => sent.resume())
  const leave = (): void => {
    if (!arrivals.hasEnded()) sent.abort(new DOMException('the reader left', 'AbortError'))
    arrivals.release()
  }
  const sent = send(client, request, signal, {
    begun(statusCode, headers) {
      heard()
      resolve({ statusCode, headers, body: { take: arrivals.take, leave } })
    },
    came(chunk, flow) {
      heard()
      arrivals.push(chunk)
      if (arrivals.isFull()) flow.pause()
    },
    ended(error) {
      arrivals.end(error)
      if (error) reject(error)
    },
  })
  return promise
}

/** An answer of any status, read to its end. */
export interface Gathered {
  statusCode: number
  body: Buffer
}

/** The body is longer than it may be. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
}

/** Sends a request and keeps its whole body, without a stream in between. */
export const gather = (
  client: HostClient,
  request: HostRequest,
  { signal, heard, maxBytes }: Bounds & { maxBytes: number },
): Promise<Gathered> => {
  const { promise, resolve, reject } = Promise.withResolvers<Gathered>()
  const chunks: Buffer[] = []
  let size = 0
  let statusCode = 0
  const sent = send(client, request, signal, {
    begun(status) {
      heard()
      statusCode = status
    },
    came(chunk) {
      heard()
      size += chunk.length
      if (size > maxBytes) sent.abort(new BodyTooLong())
      else chunks.push(chunk)
    },
    ended(error) {
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
      // Servers cut the connection after a failure behind rows, so that nobody takes the answer for a whole one.
      if (error && !(isReset(error) && body.includes(failureBehindRows))) reject(error)
      else resolve({ statusCode, body })
    },
  })
  return promise
}

/** Whether the host closed the connection. */
export const isReset = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'UND_ERR_SOCKET' || error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** Sends a request, and ends it as soon as its signal aborts. */
const send = (client: HostClient, request: HostRequest, signal: AbortSignal, reading: Reading): Sent => {
  let sent: Sent | undefined
  let isOver = false
  const ended = (error?: Error): void => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', onAbort)
    reading.ended(error)
  }
  // The reader learns of it at once: a request that still waits for a connection may be long in ending.
  const abort = (reason: Error): void => {
    ended(reason)
    sent?.abort(reason)
  }
  // What our time limits abort with is an error, whatever the type of a signal's reason says.
  const onAbort = (): void => abort(signal.reason as Error)

  signal.addEventListener('abort', onAbort, { once: true })
  try {
    if (signal.aborted) onAbort()
    else sent = client.send(request, { ...reading, ended })
  } catch (error) {
    ended(error instanceof Error ? error : new Error('not sent', { cause: error }))
  }
  return { abort, resume: () => sent?.resume() }
}
