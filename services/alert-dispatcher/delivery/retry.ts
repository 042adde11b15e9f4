import { maxSendMs } from '../channels/channel.ts'

/** Timing of retries. Tests use shorter times. */
export interface RetryPlan {
  /** Waits after the first failure, the second and so on; the last value repeats. */
  waitsMs: readonly number[]
  /** Relative jitter, so that failures at the same time are not retried at the same time. */
  jitter: number
  /** Maximum pause of a failing target, which may be fixed at any time. A single message may wait longer. */
  maxRestMs: number
  /** Maximum wait that a server may request. */
  maxWaitMs: number
  /** After this time an undelivered message becomes a dead letter. */
  lifeMs: { paging: number; others: number }
  /** Maximum duration of a send, including writing its result; after that it counts as interrupted. */
  holdMs: number
  /** Interval between attempts to record results. */
  recordAgainMs: number
}

const secondMs = 1_000
const minuteMs = 60 * secondMs

export const defaultRetryPlan: RetryPlan = {
  waitsMs: [2 * secondMs, 10 * secondMs, minuteMs, 5 * minuteMs, 15 * minuteMs],
  jitter: 0.2,
  maxRestMs: minuteMs,
  maxWaitMs: 30 * minuteMs,
  lifeMs: { paging: 60 * minuteMs, others: 30 * minuteMs },
  holdMs: maxSendMs + 15 * secondMs,
  recordAgainMs: 10 * secondMs,
}

/**
 * Returns the wait after this many consecutive failures, or the wait that the server requested if it is longer.
 * `chance` is in [0, 1).
 */
export const getRetryDelayMs = (
  plan: RetryPlan,
  failures: number,
  requestedMs: number | undefined,
  chance: number,
): number => {
  return limitDelay(plan, computeJitteredDelayMs(plan, failures, chance), requestedMs)
}

/** Returns the pause of a target after this many consecutive failures. */
export const getTargetPauseMs = (
  plan: RetryPlan,
  failures: number,
  requestedMs: number | undefined,
  chance: number,
): number => limitDelay(plan, Math.min(computeJitteredDelayMs(plan, failures, chance), plan.maxRestMs), requestedMs)

const computeJitteredDelayMs = ({ waitsMs, jitter }: RetryPlan, failures: number, chance: number): number => {
  const index = Math.min(Math.max(failures, 1), waitsMs.length) - 1
  return (waitsMs[index] ?? 0) * (1 + jitter * (2 * chance - 1))
}

const limitDelay = ({ maxWaitMs }: RetryPlan, ownMs: number, requestedMs = 0): number =>
  Math.min(Math.max(ownMs, requestedMs), maxWaitMs)
