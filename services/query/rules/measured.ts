import type { Reading } from '#proto/rules.ts'
import { beginningOf } from '#shared/text/cut.ts'

/** A reading that does not say yet whose it is. */
export type Measured = Omit<Reading, 'id'>

const nothing = { samples: null, warning: null, critical: null, offenders: [] }

/** A figure that could be told. */
export const measured = (value: number, offenders: readonly string[] = []): Measured => ({
  ...nothing,
  value,
  reason: null,
  offenders: worstOf(offenders),
})

/** One that could not, and why. */
export const untold = (reason: string): Measured => ({
  ...nothing,
  value: null,
  reason: beginningOf(reason, maxReasonLength),
})

/** As many names as a reading holds, as long as they may be. */
export const worstOf = (names: readonly string[]): string[] =>
  names.slice(0, maxOffenders).map((name) => beginningOf(name, maxOffenderLength))

export const maxOffenders = 5

export const maxOffenderLength = 200

const maxReasonLength = 300
