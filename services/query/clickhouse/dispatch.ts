import type { Dispatcher } from 'undici'

/** What is made of an answer. */
interface Reading {
  begun(statusCode: number, headers: Dispatcher.ResponseData['headers']): void
  came(chunk: Buffer, controller: Dispatcher.DispatchController): void
  /** Nothing more comes, with an error before the whole answer had come; may be called more than once. */
  ended(error?: Error): void
}

/** A request on its way. */
export interface Dispatched {
  /** Ends it before its end. */
  giveUp(reason: Error): void
  /** Lets more come after a pause. */
  resume(): void
}

/** Sends a request, and ends it as soon as its signal says so. */
export const dispatch = (
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
