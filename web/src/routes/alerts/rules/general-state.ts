import type { AlertConfig } from '#lib/api/health.ts'
import type { saveGeneralSettings } from '#lib/api/alerting.ts'
import type { FieldProblems } from '#lib/ui/form-problems.svelte.ts'
import { parseNumber } from '#lib/ui/parse-number.ts'

/** The number fields of the general settings, with their limits. */
export const generalNumbers = [
  { name: 'sweepMinutes', label: 'Sweep interval (minutes)', min: 0, max: 1_440, hint: '0: only on request' },
  { name: 'breaches', label: 'Fires after (sweeps)', min: 1, max: 100, hint: undefined },
  { name: 'clears', label: 'Recovers after (sweeps)', min: 1, max: 100, hint: undefined },
  { name: 'cooldownMinutes', label: 'Reminder interval (minutes)', min: 0, max: 43_200, hint: '0: no reminders' },
  { name: 'digestMinutes', label: 'Digest window (minutes)', min: 0, max: 1_440, hint: '0: no digest' },
] as const

type NumberName = (typeof generalNumbers)[number]['name']

/** The form values of the general settings. Numbers are texts while they are typed. */
export type GeneralFields = Record<NumberName, string> & {
  enabled: boolean
  minSeverity: 'warning' | 'critical'
}

export const toGeneralFields = ({ general, digestMinutes }: AlertConfig['data']): GeneralFields => ({
  enabled: general.enabled.value,
  minSeverity: general.minSeverity.value,
  sweepMinutes: String(general.sweepMinutes?.value ?? 0),
  breaches: String(general.breaches.value),
  clears: String(general.clears.value),
  cooldownMinutes: String(general.cooldownMinutes.value),
  digestMinutes: String(digestMinutes.value),
})

/** Returns the request body without the digest, which is saved separately. */
export const toGeneralBody = (
  typed: GeneralFields,
  isIntervalFree: boolean,
): Parameters<typeof saveGeneralSettings>[0] => ({
  enabled: typed.enabled,
  minSeverity: typed.minSeverity,
  breaches: Number(typed.breaches),
  clears: Number(typed.clears),
  cooldownMinutes: Number(typed.cooldownMinutes),
  ...(isIntervalFree && { sweepMinutes: Number(typed.sweepMinutes) }),
})

/** Returns the problems of the form values, by field name. */
export const findGeneralProblems = (typed: GeneralFields): FieldProblems =>
  Object.fromEntries(
    generalNumbers.map(({ name, min, max }) => {
      const number = parseNumber(typed[name])
      const isValid = number !== null && Number.isInteger(number) && number >= min && number <= max
      return [name, isValid ? undefined : `Enter a whole number from ${min} to ${max}`]
    }),
  )
