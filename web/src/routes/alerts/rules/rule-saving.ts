import type { RuleSaving, RuleSettled } from '#lib/api/alerting.ts'
import { typedNumber } from '#lib/ui/typed-number.ts'

/** What somebody types about a rule; an empty field leaves it to what holds otherwise. */
export interface TypedRule {
  watched: '' | 'yes' | 'no'
  minSeverity: '' | 'warning' | 'critical'
  warning: string
  critical: string
  breaches: string
  clears: string
}

const watchedWords = new Map([
  [true, 'yes'],
  [false, 'no'],
] as const)

/** The form of a rule: only what was settled in the product stands in its fields. */
export const typedOf = (settled: RuleSettled | undefined): TypedRule => {
  const here = <T>(field: keyof RuleSaving, value: T | undefined): T | undefined =>
    settled?.sources[field] === 'database' ? value : undefined
  const enabled = here('enabled', settled?.enabled)
  const text = (field: 'warning' | 'critical' | 'breaches' | 'clears') =>
    here(field, settled?.[field])?.toString() ?? ''
  return {
    watched: enabled === undefined ? '' : (watchedWords.get(enabled) ?? ''),
    minSeverity: here('minSeverity', settled?.minSeverity) ?? '',
    warning: text('warning'),
    critical: text('critical'),
    breaches: text('breaches'),
    clears: text('clears'),
  }
}

/** What is to be saved of it; null when every field is empty, which takes back what was settled. */
export const savingOf = ({ watched, minSeverity, ...numbers }: TypedRule): RuleSaving | null => {
  const given = Object.entries(numbers).flatMap(([name, text]) => {
    const number = typedNumber(text)
    return number === null ? [] : [[name, number] as const]
  })
  const saving: RuleSaving = {
    ...(watched && { enabled: watched === 'yes' }),
    ...(minSeverity && { minSeverity }),
    ...Object.fromEntries(given),
  }
  return Object.keys(saving).length > 0 ? saving : null
}
