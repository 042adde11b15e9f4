import type { Dispatcher } from 'undici'

/** A request whose answer is wanted as one piece. */
export interface Gathering {
  options: Dispatcher.DispatchOptions
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
export const gather = (dispatcher: Dispatcher, { options, signal, mostBytes, heard }: Gathering): Promise<Gathered> => {
  const { promise, resolve, reject } = Promise.withResolvers<Gathered>()
  const chunks: Buffer[] = []
  let size = 0
  let statusCode = 0
  let controller: Dispatcher.DispatchController | undefined

  // Rejected at once: one that still waits for a connection has no controller to abort it by.
  const giveUp = (reason: Error): void => {
    settle(() => reject(reason))
    controller?.abort(reason)
  }
  // What our time limits abort with is an error, whatever the type of a signal's reason says.
  const onAbort = (): void => giveUp(signal.reason as Error)
  const settle = (how: () => void): void => {
    signal.removeEventListener('abort', onAbort)
    how()
  }

  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  else
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started
        if (signal.aborted) onAbort()
      },
      onResponseStart(_controller, status) {
        heard()
        statusCode = status
      },
      onResponseData(_controller, chunk) {
        heard()
        size += chunk.length
        if (size > mostBytes) giveUp(new BodyTooLong())
        else chunks.push(chunk)
      },
      onResponseEnd() {
        settle(() =>
          resolve({ statusCode, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }),
        )
      },
      onResponseError(_controller, error) {
        settle(() => reject(error))
      },
    })
  return promise
}
