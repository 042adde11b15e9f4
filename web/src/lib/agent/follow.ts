import { resumeAnswer } from '#lib/api/agent.ts'
import { RequestFailure } from '#lib/api/failure.ts'
import { assemble } from './assemble.ts'
import { eventsOf } from './events.ts'
import type { Message } from './message.ts'

/** Times that a lost connection is taken up again, and how much longer is waited before each. */
const mostTries = 5
const waitMs = 1_000
/** The event after which nothing comes. */
const done = '[DONE]'

/** Reads an answer into a message to its end, through connections that are lost. */
export const follow = async (first: Response, run: string, message: Message, signal: AbortSignal): Promise<void> => {
  const add = assemble(message)
  let response: Response | null = first
  let last = 0
  for (let tries = 1; ; tries += 1) {
    try {
      response ??= await resumeAnswer(run, last, signal)
      if (!response) return
      for await (const { id, data } of eventsOf(response)) {
        if (data === done) return
        last = Math.max(last, id)
        tries = 1
        add(JSON.parse(data))
      }
    } catch (error) {
      if (signal.aborted || !isLost(error)) throw error
    }
    if (tries > mostTries) throw new RequestFailure({ status: 0, type: 'network', message: 'The connection was lost.' })
    response = null
    await new Promise((resolve) => setTimeout(resolve, waitMs * tries))
  }
}

/** What browsers throw for a connection that ends in the middle, and what a request says that found none. */
const isLost = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof RequestFailure && error.status === 0)
