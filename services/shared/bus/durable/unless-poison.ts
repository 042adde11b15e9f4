import { ServiceError } from '#proto/errors.ts'
import { defaultQueueLimits } from './limits.ts'
import type { Handle } from './queue.ts'

/**
 * Returns a handler that dead-letters a message which keeps failing by itself, but keeps retrying while a server is unavailable. For consumers with a high limit of attempts.
 */
export const unlessPoison =
  <T>(handle: Handle<T>): Handle<T> =>
  async (message) => {
    try {
      return await handle(message)
    } catch (error) {
      if (isAway(error) || message.deliveries < defaultQueueLimits.tries) throw error
      return { dead: `could not be dealt with, handed over ${message.deliveries} times` }
    }
  }

const awayCodes: ReadonlySet<string> = new Set(['unavailable', 'busy', 'timeout'])

const isAway = (error: unknown): boolean => error instanceof ServiceError && awayCodes.has(error.code)
