/** Weight of the newest slot in the mean of how long slots are held. */
const newestWeight = 0.1
/** Work that waits without a pause for so long is no burst. */
const burstMs = 2_000
/** Work may wait this many times what a slot is held for, once the queue is overloaded. */
const overloadedFactor = 1

/** How long new work of a queue would wait, and how long it may. */
export interface WaitEstimate {
  /** Records for how long a slot was held. */
  held(ms: number): void
  /** Records how much work waits now. */
  observe(waiting: number): void
  /** Records that work was refused. */
  refused(): void
  /** The wait of new work with so much before it; 0 before any slot was given back. */
  expectedMs(before: number, size: number): number
  /** How long new work may wait that has to end within `patienceMs`. */
  allowedMs(patienceMs: number): number
}

/**
 * A burst may wait up to `maxWaitMs`. A queue in which work has waited without a pause for two seconds is overloaded: it only
 * makes everything late. Work may then wait no longer than a slot is held, so that what is admitted is answered soon; this
 * ends when nothing had to be refused for as long.
 */
export const openWaitEstimate = (maxWaitMs: number, nowMs: () => number): WaitEstimate => {
  // The geometric mean: one long statement among many short ones does not make the next wait long.
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
    allowedMs(patienceMs) {
      update()
      const allowedMs = Math.min(maxWaitMs, patienceMs - heldMs())
      return isOverloaded ? Math.min(allowedMs, overloadedFactor * heldMs()) : allowedMs
    },
  }
}
