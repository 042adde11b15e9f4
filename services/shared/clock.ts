/** The time that decisions are made by; tests pass their own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() }
