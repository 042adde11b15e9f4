import { RequestError } from './failure.ts'

/** How often and how long failed requests are repeated. */
export interface RetryPolicy {
  /** Maximum number of repetitions after the first attempt; 0 disables them. */
  maxRetries: number
  /** The delay before the first repetition, which doubles with each further one. */
  firstDelayMs: number
  /** A longer `Retry-After` is not waited for: the error is reported instead. */
  maxDelayMs: number
}

/** Enough for a restart of the service, few enough not to hide an outage. */
export const defaultRetryPolicy: RetryPolicy = { maxRetries: 3, firstDelayMs: 300, maxDelayMs: 20_000 }

/** Methods whose requests can be repeated without a second effect (RFC 9110 §9.2.2). */
const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Returns whether a request may be repeated: its method is idempotent, or its `Idempotency-Key` identifies it. */
export const isRepeatable = (method: string, headers: Readonly<Record<string, string>>): boolean =>
  idempotentMethods.has(method) || Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')

/**
 * Returns the delay before the next attempt in milliseconds; undefined if the request must not be repeated. The delay is
 * the value of `Retry-After`, to which up to a quarter is added, so that clients do not return at the same moment.
 * Without the header, it is random between half and all of the doubled delay.
 */
export const computeRetryDelayMs = (
  policy: RetryPolicy,
  failures: number,
  error: unknown,
  random: () => number = Math.random,
): number | undefined => {
  if (failures >= policy.maxRetries || !(error instanceof RequestError) || !error.isTransient) return undefined
  const { retryAfterMs } = error
  if (retryAfterMs !== undefined)
    return retryAfterMs > policy.maxDelayMs ? undefined : retryAfterMs * (1 + random() / 4)
  return Math.min(policy.firstDelayMs * 2 ** failures, policy.maxDelayMs) * (0.5 + random() / 2)
}
