import type { Dispatcher } from 'undici'
import { dispatch, type Dispatched } from './dispatch.ts'

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
