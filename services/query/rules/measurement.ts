import type { RuleReading } from '#proto/rules.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import { shortenText } from '#shared/text/strings.ts'

/** A reading without the id of its rule. */
export type Measurement = Omit<RuleReading, 'id'>

const nothing = { incomplete: null, samples: null, warning: null, critical: null, offenders: [] }

/** Returns a measurement with a value, and the names of the worst objects such as tables or disks. */
export const createMeasurement = (value: number, offenders: readonly string[] = []): Measurement => ({
  ...nothing,
  value,
  reason: null,
  offenders: truncateOffenders(offenders),
})

/** Returns a measurement without a value, with the reason. */
export const createMissingMeasurement = (reason: string): Measurement => ({
  ...nothing,
  value: null,
  reason: shortenText(reason, maxReasonLength),
})

/** Marks a value that may be too small because the host hides rows. */
export const addIncompleteReason = (reading: Measurement, { message, grant }: IncompleteReason): Measurement => ({
  ...reading,
  incomplete: shortenText(`${message}; to see them, run ${grant}`, maxReasonLength),
})

/** Truncates a list of names, worst first, to the limits of a reading. */
export const truncateOffenders = (names: readonly string[]): string[] =>
  names.slice(0, maxOffenders).map((name) => shortenText(name, maxOffenderLength))

export const maxOffenders = 5

export const maxOffenderLength = 200

const maxReasonLength = 300
