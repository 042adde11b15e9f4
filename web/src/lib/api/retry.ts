import { RequestFailure } from './failure.ts'

/** Retries after the first attempt: enough for a restart of the service, few enough not to hide an outage. */
const maxRetries = 2
const firstDelayMs = 1_000
const maxDelayMs = 15_000

/** Returns whether to retry a request. Only transient failures are retried, at most `maxRetries` times. */
export const shouldRetry = (failures: number, error: Error): boolean =>
  failures < maxRetries && error instanceof RequestFailure && error.isTransient

/** Returns the delay before the next retry: the value of `Retry-After`, otherwise a delay that doubles each time. */
export const getRetryDelayMs = (failures: number, error: Error): number => {
  const requested = error instanceof RequestFailure ? error.retryAfterMs : null
  return Math.min(requested ?? firstDelayMs * 2 ** failures, maxDelayMs)
}
