/** Weight of the newest value in the moving average of slot times. */
const newestWeight = 0.1
/** A queue that stays non-empty for this long is overloaded; a shorter wait is a burst. */
const burstMs = 2_000
/** Maximum wait in an overloaded queue, as a multiple of the mean slot time. */
const overloadedFactor = 1

/** Estimates the wait of new work in a queue, and limits it. */
export interface WaitEstimate {
  /** Records the time that a slot was held, in milliseconds. */
  held(ms: number): void
  /** Records the current number of waiting items. */
  observe(waiting: number): void
  /** Records a rejection. */
  refused(): void
  /**
   * Returns the expected wait in milliseconds behind `before` items, with `size` slots; 0 until a slot was released.
   */
  expectedMs(before: number, size: number): number
  /** Returns the maximum wait of work that must end within `patienceMs`; shorter during overload if `isShed`. */
  allowedMs(maxWaitMs: number, patienceMs: number, isShed: boolean): number
}

/**
 * Creates the estimate of a queue. Normally work may wait up to `maxWaitMs`. A queue that stays non-empty for two
 * seconds is overloaded: more waiting work would only add latency. The maximum wait is then one mean slot time, until
 * two seconds pass without waiting work and without a rejection.
 */
export const openWaitEstimate = (nowMs: () => number): WaitEstimate => {
  // Geometric mean, so that one long statement among many short ones hardly changes the estimate.
  let meanLog: number | undefined
  let waitingSinceMs: number | undefined
  let isOverloaded = false
  let refusedMs = -Infinity
  const heldMs = (): number => (meanLog === undefined ? 0 : Math.exp(meanLog))

  const update = (): void => {
    const now = nowMs()
    if (!isOverloaded && waitingSinceMs !== undefined && now - waitingSinceMs >= burstMs) isOverloaded = true
    if (isOverloaded && waitingSinceMs === undefined && now - refusedMs >= burstMs) isOverloaded = false
  }
  return {
    held(ms) {
      const log = Math.log(Math.max(ms, 0.01))
      meanLog = meanLog === undefined ? log : meanLog + newestWeight * (log - meanLog)
    },
    observe(waiting) {
      update()
      if (waiting === 0) waitingSinceMs = undefined
      else waitingSinceMs ??= nowMs()
    },
    refused() {
      refusedMs = nowMs()
    },
    expectedMs: (before, size) => ((before + 1) * heldMs()) / size,
    allowedMs(maxWaitMs, patienceMs, isShed) {
      update()
      const allowedMs = Math.min(maxWaitMs, patienceMs - heldMs())
      return isOverloaded && isShed ? Math.min(allowedMs, overloadedFactor * heldMs()) : allowedMs
    },
  }
}
