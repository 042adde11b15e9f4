import { exceptionAfterRowsPrefix } from './failure.ts'
import { type HostBody, openChunkBuffer } from './host-body.ts'
import type { SendingOptions, Statement } from './statement.ts'

/** A statement with its query id and sending options. */
export interface HostRequest {
  statement: Statement
  queryId: string
  sending: SendingOptions
  /** Opens a connection of its own. A host that closed one idle connection has often closed the others too. */
  newConnection?: boolean
}

/** Sends requests to one host. */
export interface HostClient {
  /** Sends a request. Reports failures through `handler.onEnd`, or throws before anything is sent. */
  send(request: HostRequest, handler: ResponseHandler): PendingRequest
  /** The number of requests whose responses have not ended. */
  readonly running: number
  /** Closes the connections once all responses have ended. */
  close(): void
  /** Closes the connections now. */
  destroy(): Promise<void>
}

/** Callbacks for the parts of a response. */
export interface ResponseHandler {
  onHead(statusCode: number, headers: Headers): void
  onData(chunk: Buffer, flow: { pause(): void }): void
  /** Called at the end, with an error for an incomplete response. May be called more than once. */
  onEnd(error?: Error): void
}

type Headers = Record<string, string | string[] | undefined>

/** A request whose response has not ended. */
export interface PendingRequest {
  abort(reason: Error): void
  /** Resumes a paused response. */
  resume(): void
}

export interface ResponseReadOptions {
  signal: AbortSignal
  /** Called whenever data from the host arrives, including the response head. */
  onActivity: () => void
}

/** A response of any status whose head has arrived. */
export interface StreamedResponse {
  statusCode: number
  headers: Headers
  body: HostBody
}

/** Sends a request and waits for the head of its response. Reads ahead at most one piece of the body. */
export const streamResponse = (
  client: HostClient,
  request: HostRequest,
  { signal, onActivity }: ResponseReadOptions,
): Promise<StreamedResponse> => {
  const { promise, resolve, reject } = Promise.withResolvers<StreamedResponse>()
  const buffer = openChunkBuffer(() => pending.resume())
  const leave = (): void => {
    if (!buffer.hasEnded()) pending.abort(new DOMException('the reader left', 'AbortError'))
    buffer.release()
  }
  const pending = send(client, request, signal, {
    onHead(statusCode, headers) {
      onActivity()
      resolve({ statusCode, headers, body: { take: buffer.take, leave } })
    },
    onData(chunk, flow) {
      onActivity()
      buffer.push(chunk)
      if (buffer.isFull()) flow.pause()
    },
    onEnd(error) {
      buffer.end(error)
      if (error) reject(error)
    },
  })
  return promise
}

/** A complete response of any status. */
export interface BufferedResponse {
  statusCode: number
  body: Buffer
}

/** Thrown when a response body exceeds its maximum size. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** Sends a request and collects the whole body of its response. */
export const bufferResponse = (
  client: HostClient,
  request: HostRequest,
  { signal, onActivity, maxBytes }: ResponseReadOptions & { maxBytes: number },
): Promise<BufferedResponse> => {
  const { promise, resolve, reject } = Promise.withResolvers<BufferedResponse>()
  const chunks: Buffer[] = []
  let size = 0
  let statusCode = 0
  const pending = send(client, request, signal, {
    onHead(status) {
      onActivity()
      statusCode = status
    },
    onData(chunk) {
      onActivity()
      size += chunk.length
      if (size > maxBytes) pending.abort(new BodyTooLargeError())
      else chunks.push(chunk)
    },
    onEnd(error) {
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
      // After an exception that follows rows, servers close the connection to mark the response as incomplete.
      if (error && !(isConnectionReset(error) && body.includes(exceptionAfterRowsPrefix))) reject(error)
      else resolve({ statusCode, body })
    },
  })
  return promise
}

/** Returns whether the host closed the connection. */
export const isConnectionReset = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'UND_ERR_SOCKET' || error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** Sends a request and aborts it with its signal. */
const send = (
  client: HostClient,
  request: HostRequest,
  signal: AbortSignal,
  handler: ResponseHandler,
): PendingRequest => {
  let pending: PendingRequest | undefined
  let isOver = false
  const onEnd = (error?: Error): void => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', onAbort)
    handler.onEnd(error)
  }
  // Reports the end immediately, because a request that still waits for a connection may end much later.
  const abort = (reason: Error): void => {
    onEnd(reason)
    pending?.abort(reason)
  }
  // All time limits abort with an error, although the type of `reason` is `any`.
  const onAbort = (): void => abort(signal.reason as Error)

  signal.addEventListener('abort', onAbort, { once: true })
  try {
    if (signal.aborted) onAbort()
    else pending = client.send(request, { ...handler, onEnd })
  } catch (error) {
    onEnd(error instanceof Error ? error : new Error('sending the request failed', { cause: error }))
  }
  return { abort, resume: () => pending?.resume() }
}
