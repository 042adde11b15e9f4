import type { Dispatcher } from 'undici'
import { type HostBody, openArrivals } from './host-body.ts'

/** How an answer is read as it comes. */
export interface Beginning {
  signal: AbortSignal
  /** Called with everything that comes, the head first. */
  heard: () => void
}

/** An answer of any status that has begun. */
export interface Begun {
  statusCode: number
  headers: Dispatcher.ResponseData['headers']
  body: HostBody
}

/** Sends a request and waits for the head of its answer; no more of the body is read ahead than one piece. */
export const begin = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { signal, heard }: Beginning,
): Promise<Begun> => {
  const { promise, resolve, reject } = Promise.withResolvers<Begun>()
  const arrivals = openArrivals(() => dispatched.resume())
  const leave = (): void => {
    if (!arrivals.hasEnded()) dispatched.giveUp(new DOMException('the reader left', 'AbortError'))
    arrivals.release()
  }
  const dispatched: Dispatched = dispatch(dispatcher, options, signal, {
    begun(statusCode, headers) {
      heard()
      if (statusCode >= 200) resolve({ statusCode, headers, body: { take: arrivals.take, leave } })
    },
    came(chunk, controller) {
      heard()
      arrivals.push(chunk)
      if (arrivals.isFull()) controller.pause()
    },
    ended(error) {
      arrivals.end(error)
      if (error) reject(error)
    },
  })
  return promise
}

/** How an answer is wanted as one piece. */
export interface Gathering {
  signal: AbortSignal
  mostBytes: number
  /** Called with everything that comes, the head first. */
  heard: () => void
}

/** An answer of any status. */
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
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { signal, mostBytes, heard }: Gathering,
): Promise<Gathered> => {
  const { promise, resolve, reject } = Promise.withResolvers<Gathered>()
  const chunks: Buffer[] = []
  let size = 0
  let statusCode = 0
  const dispatched: Dispatched = dispatch(dispatcher, options, signal, {
    begun(status) {
      heard()
      statusCode = status
    },
    came(chunk) {
      heard()
      size += chunk.length
      if (size > mostBytes) dispatched.giveUp(new BodyTooLong())
      else chunks.push(chunk)
    },
    ended(error) {
      if (error) reject(error)
      else resolve({ statusCode, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) })
    },
  })
  return promise
}

/** What is made of an answer. */
interface Reading {
  begun(statusCode: number, headers: Dispatcher.ResponseData['headers']): void
  came(chunk: Buffer, controller: Dispatcher.DispatchController): void
  /** Nothing more comes, with an error before the whole answer had come; may be called more than once. */
  ended(error?: Error): void
}

/** A request on its way. */
interface Dispatched {
  /** Ends it before its end. */
  giveUp(reason: Error): void
  /** Lets more come after a pause. */
  resume(): void
}

/** Sends a request, and ends it as soon as its signal says so. */
const dispatch = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  reading: Reading,
): Dispatched => {
  let controller: Dispatcher.DispatchController | undefined
  const end = (error?: Error): void => {
    signal.removeEventListener('abort', onAbort)
    reading.ended(error)
  }
  // Told at once: one that still waits for a connection has no controller to abort it by.
  const giveUp = (reason: Error): void => {
    end(reason)
    controller?.abort(reason)
  }
  // What our time limits abort with is an error, whatever the type of a signal's reason says.
  const onAbort = (): void => giveUp(signal.reason as Error)

  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  else
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started
        if (signal.aborted) onAbort()
      },
      onResponseStart: (_controller, statusCode, headers) => reading.begun(statusCode, headers),
      onResponseData: (started, chunk) => reading.came(chunk, started),
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(error),
    })
  return { giveUp, resume: () => controller?.resume() }
}
