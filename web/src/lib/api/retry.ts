import { RequestFailure } from './failure.ts'

/** Attempts after the first: enough for a restart of the service, few enough not to hide that it is away. */
const maximumRetries = 2
const firstDelayMs = 1_000
const longestDelayMs = 15_000

/** Whether to try again after this many failures. */
export const shouldRetry = (failures: number, error: Error): boolean =>
  failures < maximumRetries && error instanceof RequestFailure && error.passing

/** Waits as long as the service asked, else twice as long each time. */
export const delayBefore = (failures: number, error: Error): number => {
  const asked = error instanceof RequestFailure ? error.retryAfterMs : null
  return Math.min(asked ?? firstDelayMs * 2 ** failures, longestDelayMs)
}
