import type { RuleConfigUpdate, RuleConfig } from '#lib/api/alerting.ts'
import type { FieldProblems } from '#lib/ui/form-problems.svelte.ts'
import { parseNumber } from '#lib/ui/parse-number.ts'
import {
  findHostThresholdProblems,
  findNumberProblem,
  findOrderProblem,
  findSweepsProblem,
  type HostThresholdFields,
  type ThresholdPair,
  toHostThresholdFields,
  toHostThresholds,
} from './thresholds.ts'

/** The values of the form that overrides the defaults of a rule. An empty field keeps the default. */
export interface RuleFormState {
  watched: '' | 'yes' | 'no'
  minSeverity: '' | 'warning' | 'critical'
  warning: string
  critical: string
  breaches: string
  clears: string
  hostThresholds: HostThresholdFields[]
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
    hostThresholds: toHostThresholdFields(here('hostThresholds', config?.hostThresholds)),
  }
}

/** Returns the update for the form values. Returns null if all fields are empty, which deletes the overrides. */
export const toRuleUpdate = ({
  watched,
  minSeverity,
  hostThresholds,
  ...numbers
}: RuleFormState): RuleConfigUpdate | null => {
  const given = Object.entries(numbers).flatMap(([name, text]) => {
    const number = parseNumber(text)
    return number === null ? [] : [[name, number] as const]
  })
  const saving: RuleConfigUpdate = {
    ...(watched && { enabled: watched === 'yes' }),
    ...(minSeverity && { minSeverity }),
    ...Object.fromEntries(given),
    ...(hostThresholds.length > 0 && { hostThresholds: toHostThresholds(hostThresholds) }),
  }
  return Object.keys(saving).length > 0 ? saving : null
}

/** Returns the problems of the form values, by field name. `usual` are the thresholds without overrides. */
export const findRuleProblems = (typed: RuleFormState, usual: ThresholdPair): FieldProblems => {
  const pair = {
    warning: parseNumber(typed.warning) ?? usual.warning,
    critical: parseNumber(typed.critical) ?? usual.critical,
    below: usual.below,
  }
  return {
    warning: findNumberProblem(typed.warning),
    critical: findNumberProblem(typed.critical) ?? findOrderProblem(pair),
    breaches: findSweepsProblem(typed.breaches),
    clears: findSweepsProblem(typed.clears),
    ...findHostThresholdProblems(typed.hostThresholds, pair),
  }
}
