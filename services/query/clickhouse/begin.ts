import type { Dispatcher } from 'undici'
import { type HostBody, openArrivals } from './host-body.ts'

/** A request whose answer is read as it comes. */
export interface Beginning {
  options: Dispatcher.DispatchOptions
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
export const begin = (dispatcher: Dispatcher, { options, signal, heard }: Beginning): Promise<Begun> => {
  const { promise, resolve, reject } = Promise.withResolvers<Begun>()
  let controller: Dispatcher.DispatchController | undefined
  const arrivals = openArrivals(() => controller?.resume())

  const end = (error?: Error): void => {
    signal.removeEventListener('abort', onAbort)
    arrivals.end(error)
    if (error) reject(error)
  }
  // Rejected at once: one that still waits for a connection has no controller to abort it by.
  const giveUp = (reason: Error): void => {
    end(reason)
    controller?.abort(reason)
  }
  // What our time limits abort with is an error, whatever the type of a signal's reason says.
  const onAbort = (): void => giveUp(signal.reason as Error)
  const leave = (): void => {
    if (!arrivals.ended) giveUp(new DOMException('the reader left', 'AbortError'))
  }

  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  else
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started
        if (signal.aborted) onAbort()
      },
      onResponseStart(_controller, statusCode, headers) {
        heard()
        if (statusCode >= 200) resolve({ statusCode, headers, body: { take: arrivals.take, leave } })
      },
      onResponseData(started, chunk) {
        heard()
        arrivals.push(chunk)
        if (arrivals.full) started.pause()
      },
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(error),
    })
  return promise
}
