import { type CustomRule, type RuleSettings, thresholdProblem } from '#proto/alert-policy.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Rule } from '#proto/rules.ts'

/** Throws `invalid` for thresholds of a custom rule that contradict each other. */
export const requireSoundRule = (rule: Omit<CustomRule, 'id'>): void => {
  const problem = thresholdProblem(rule)
  if (problem !== undefined) throw invalid('warning', problem)
}

/** Throws `invalid` when what is settled about a rule would have critical begin before warning. */
export const requireSoundSettings = ({ thresholds }: Pick<Rule, 'thresholds'>, settled: RuleSettings): void => {
  const { below } = thresholds
  const warning = settled.warning ?? thresholds.warning
  const critical = settled.critical ?? thresholds.critical
  if (warning === null || critical === null) return
  if (below ? critical <= warning : critical >= warning) return
  const parameter = settled.critical === undefined ? 'warning' : 'critical'
  const bound = below ? 'at most' : 'at least'
  throw invalid(
    parameter,
    `leaves critical at ${critical} and warning at ${warning}: critical must be ${bound} warning`,
  )
}

const invalid = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', `${parameter} ${sentence}`, { details: { parameter } })
