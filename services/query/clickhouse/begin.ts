import type { Dispatcher } from 'undici'
import { dispatch, type Dispatched } from './dispatch.ts'
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
