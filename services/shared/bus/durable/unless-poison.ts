import { ServiceError } from '#proto/errors.ts'
import { defaultQueueLimits } from './limits.ts'
import type { Handle } from './queue.ts'

/**
 * A handler that gives a message up which fails by itself again and again, while what waits for a server that is away waits on:
 * for consumers whose number of tries is too large to end either.
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
