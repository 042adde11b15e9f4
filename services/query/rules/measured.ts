import type { Reading } from '#proto/rules.ts'
import type { Incomplete } from '#proto/unavailable.ts'
import { beginningOf } from '#shared/text/strings.ts'

/** A reading without the id of its rule. */
export type Measurement = Omit<Reading, 'id'>

const nothing = { incomplete: null, samples: null, warning: null, critical: null, offenders: [] }

/** Returns a measurement with a value, and the names of the worst objects such as tables or disks. */
export const measured = (value: number, offenders: readonly string[] = []): Measurement => ({
  ...nothing,
  value,
  reason: null,
  offenders: worstOf(offenders),
})

/** Returns a measurement without a value, with the reason. */
export const unmeasured = (reason: string): Measurement => ({
  ...nothing,
  value: null,
  reason: beginningOf(reason, maxReasonLength),
})

/** Marks a value that may be too small because the host hides rows. */
export const withIncomplete = (reading: Measurement, { message, grant }: Incomplete): Measurement => ({
  ...reading,
  incomplete: beginningOf(`${message}; to see them, run ${grant}`, maxReasonLength),
})

/** Truncates a list of names, worst first, to the limits of a reading. */
export const worstOf = (names: readonly string[]): string[] =>
  names.slice(0, maxOffenders).map((name) => beginningOf(name, maxOffenderLength))

export const maxOffenders = 5

export const maxOffenderLength = 200

const maxReasonLength = 300
