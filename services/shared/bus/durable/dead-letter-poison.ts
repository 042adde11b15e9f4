import { ServiceError } from '#proto/errors.ts'
import { defaultQueueLimits } from './limits.ts'
import type { MessageHandler } from './queue.ts'

/**
 * Returns a handler that dead-letters a message after 20 failed deliveries. Failures caused by an unavailable, busy or
 * slow server are retried instead, up to the `tries` of the consumer.
 */
export const deadLetterPoisonMessages =
  <T>(handle: MessageHandler<T>): MessageHandler<T> =>
  async (message) => {
    try {
      return await handle(message)
    } catch (error) {
      if (isUnavailable(error) || message.deliveries < defaultQueueLimits.tries) throw error
      return { dead: `the handler failed on delivery ${message.deliveries}` }
    }
  }

const unavailableCodes: ReadonlySet<string> = new Set(['unavailable', 'busy', 'timeout'])

const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && unavailableCodes.has(error.code)
