import type { RuleConfigUpdate, RuleConfig } from '#lib/api/alerting.ts'
import { parseNumber } from '#lib/ui/parse-number.ts'

/** The values of the form that overrides the defaults of a rule. An empty field keeps the default. */
export interface RuleFormState {
  watched: '' | 'yes' | 'no'
  minSeverity: '' | 'warning' | 'critical'
  warning: string
  critical: string
  breaches: string
  clears: string
}

const watchedChoices = new Map([
  [true, 'yes'],
  [false, 'no'],
] as const)

/** Returns the form values of a rule. Only overrides that are stored in the database fill the fields. */
export const toRuleFormState = (config: RuleConfig | undefined): RuleFormState => {
  const here = <T>(field: keyof RuleConfigUpdate, value: T | undefined): T | undefined =>
    config?.sources[field] === 'database' ? value : undefined
  const enabled = here('enabled', config?.enabled)
  const text = (field: 'warning' | 'critical' | 'breaches' | 'clears') => here(field, config?.[field])?.toString() ?? ''
  return {
    watched: enabled === undefined ? '' : (watchedChoices.get(enabled) ?? ''),
    minSeverity: here('minSeverity', config?.minSeverity) ?? '',
    warning: text('warning'),
    critical: text('critical'),
    breaches: text('breaches'),
    clears: text('clears'),
  }
}

/** Returns the update for the form values. Returns null if all fields are empty, which deletes the overrides. */
export const toRuleUpdate = ({ watched, minSeverity, ...numbers }: RuleFormState): RuleConfigUpdate | null => {
  const given = Object.entries(numbers).flatMap(([name, text]) => {
    const number = parseNumber(text)
    return number === null ? [] : [[name, number] as const]
  })
  const saving: RuleConfigUpdate = {
    ...(watched && { enabled: watched === 'yes' }),
    ...(minSeverity && { minSeverity }),
    ...Object.fromEntries(given),
  }
  return Object.keys(saving).length > 0 ? saving : null
}
