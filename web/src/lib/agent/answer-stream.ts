import { readServerEvents } from '#proto/server-events.ts'
import { resumeAnswer } from '#lib/api/agent.ts'
import { RequestFailure } from '#lib/api/failure.ts'
import { createMessageAssembler } from './message-assembler.ts'
import type { Message } from './message.ts'

/** Maximum number of reconnects in a row. Each delay is `retryDelayMs` longer than the previous one. */
const maxReconnects = 5
const retryDelayMs = 1_000
/** Data of the event that ends a stream. */
const endOfStream = '[DONE]'

/** Streams an answer into a message until its end. Reconnects when the connection is lost. */
export const streamAnswer = async (
  first: Response,
  run: string,
  message: Message,
  signal: AbortSignal,
): Promise<void> => {
  const add = createMessageAssembler(message)
  let response: Response | null = first
  let last = 0
  for (let tries = 1; ; tries += 1) {
    try {
      response ??= await resumeAnswer(run, last, signal)
      if (!response) return
      for await (const { id, data } of readServerEvents(response)) {
        if (data === endOfStream) return
        last = Math.max(last, id)
        tries = 1
        add(JSON.parse(data))
      }
    } catch (error) {
      if (signal.aborted || !isLost(error)) throw error
    }
    if (tries > maxReconnects)
      throw new RequestFailure({ status: 0, type: 'network', message: 'The connection was lost.' })
    response = null
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs * tries))
  }
}

/** Returns whether the connection was lost. Browsers then throw a `TypeError`; requests fail with status 0. */
const isLost = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof RequestFailure && error.status === 0)
