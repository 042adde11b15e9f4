import { sendWithinMs } from '../channels/channel.ts'

/** When what failed is tried again; data, so that tests shorten it. */
export interface RetryPlan {
  /** Waits after the first failure, the second and so on; the last one repeats. */
  waitsMs: readonly number[]
  /** Share by which a wait varies, so that what failed together does not come back together. */
  jitter: number
  /** A target that fails is asked again this often at least, for it may have been mended; a message waits longer. */
  longestRestMs: number
  /** The longest wait that a server may ask for. */
  longestWaitMs: number
  /** After this long a message that could not be sent is given up. */
  lifeMs: { paging: number; others: number }
  /** A send that has not ended by then is taken for cut off: the send itself, and the time to write down how it went. */
  holdMs: number
  /** When an end that could not be recorded is tried again. */
  recordAgainMs: number
}

const secondMs = 1_000
const minuteMs = 60 * secondMs

/** How the product tries again. */
export const defaultRetryPlan: RetryPlan = {
  waitsMs: [2 * secondMs, 10 * secondMs, minuteMs, 5 * minuteMs, 15 * minuteMs],
  jitter: 0.2,
  longestRestMs: minuteMs,
  longestWaitMs: 30 * minuteMs,
  lifeMs: { paging: 60 * minuteMs, others: 30 * minuteMs },
  holdMs: sendWithinMs + 15 * secondMs,
  recordAgainMs: 10 * secondMs,
}

/** How long to wait after so many failures in a row; what the server asked for counts when it is longer. `chance` is in [0, 1). */
export const waitMs = (plan: RetryPlan, failures: number, askedMs: number | undefined, chance: number): number => {
  return asked(plan, variedMs(plan, failures, chance), askedMs)
}

/** How long a target rests after so many failures in a row. */
export const restMs = (plan: RetryPlan, failures: number, askedMs: number | undefined, chance: number): number =>
  asked(plan, Math.min(variedMs(plan, failures, chance), plan.longestRestMs), askedMs)

const variedMs = ({ waitsMs, jitter }: RetryPlan, failures: number, chance: number): number => {
  const index = Math.min(Math.max(failures, 1), waitsMs.length) - 1
  return (waitsMs[index] ?? 0) * (1 + jitter * (2 * chance - 1))
}

const asked = ({ longestWaitMs }: RetryPlan, ownMs: number, askedMs = 0): number =>
  Math.min(Math.max(ownMs, askedMs), longestWaitMs)
