import type { HostThresholds } from '#lib/api/alerting.ts'
import { parseNumber } from '#lib/ui/parse-number.ts'
import type { FieldProblems } from '#lib/ui/form-problems.svelte.ts'
import { formatScope, parseScopeValue, toScopeValue } from './host-scope.ts'

/** The thresholds of one host or group in a form. An empty text keeps the threshold of the rule. */
export interface HostThresholdFields {
  scope: string
  warning: string
  critical: string
}

/** The word that disables a severity. */
const never = 'never'

const notNumber = 'Enter a number'

/** Returns the form values of thresholds of hosts. */
export const toHostThresholdFields = (entries: readonly HostThresholds[] = []): HostThresholdFields[] =>
  entries.map(({ matchHost = '*', matchGroup = '*', warning, critical }) => ({
    scope: toScopeValue({ matchHost, matchGroup }),
    warning: toText(warning),
    critical: toText(critical),
  }))

const toText = (at: number | null | undefined): string => (at === null ? never : (at?.toString() ?? ''))

/** Returns the thresholds of hosts for form values. */
export const toHostThresholds = (fields: readonly HostThresholdFields[]): HostThresholds[] =>
  fields.map(({ scope, warning, critical }) => ({
    ...parseScopeValue(scope),
    ...(warning.trim() !== '' && { warning: parseNumber(warning) }),
    ...(critical.trim() !== '' && { critical: parseNumber(critical) }),
  }))

/** The thresholds of a rule; null for a severity that is never reached. */
export interface ThresholdPair {
  warning: number | null
  critical: number | null
  /** Whether low values breach. */
  below: boolean
}

/** Returns why a number field is invalid. */
export const findNumberProblem = (text: string): string | undefined =>
  text.trim() === '' || parseNumber(text) !== null ? undefined : notNumber

/** Returns why a whole number of sweeps is invalid. */
export const findSweepsProblem = (text: string): string | undefined => {
  const number = parseNumber(text)
  if (text.trim() === '' || (number !== null && Number.isInteger(number) && number >= 1 && number <= 100))
    return undefined
  return 'Enter a whole number from 1 to 100'
}

/** Returns why two thresholds contradict each other. */
export const findOrderProblem = ({ warning, critical, below }: ThresholdPair): string | undefined => {
  if (warning === null || critical === null || (below ? critical <= warning : critical >= warning)) return undefined
  return `Critical (${critical}) must be ${below ? 'at most' : 'at least'} warning (${warning})`
}

/** Returns the problems of thresholds of hosts, by field name. */
export const findHostThresholdProblems = (
  fields: readonly HostThresholdFields[],
  usual: ThresholdPair,
): FieldProblems => {
  const problems: Record<string, string | undefined> = {}
  for (const [index, { scope, warning, critical }] of fields.entries()) {
    const name = (field: string) => `hostThresholds.${index}.${field}`
    const isTwice = fields.findIndex((each) => each.scope === scope) < index
    problems[name('scope')] = scope === '' ? 'Select a host or a group' : isTwice ? 'Already in the list' : undefined
    problems[name('warning')] = findThresholdProblem(warning)
    problems[name('critical')] =
      findThresholdProblem(critical) ??
      (warning.trim() === '' && critical.trim() === '' ? 'Enter a warning or a critical threshold' : undefined) ??
      findOrderProblem({
        warning: applyThreshold(warning, usual.warning),
        critical: applyThreshold(critical, usual.critical),
        below: usual.below,
      })
  }
  return problems
}

const isNever = (text: string): boolean => text.trim().toLowerCase() === never

const findThresholdProblem = (text: string): string | undefined =>
  isNever(text) ? undefined : findNumberProblem(text) && `${notNumber} or “${never}”`

const applyThreshold = (text: string, usual: number | null): number | null =>
  text.trim() === '' ? usual : parseNumber(text)

/** Formats thresholds of hosts, for example `thresholds of one, group cold`. */
export const formatHostThresholds = (entries: readonly HostThresholds[] = []): string => {
  const scopes = entries.map(({ matchHost = '*', matchGroup = '*' }) => formatScope({ matchHost, matchGroup }))
  return scopes.length === 0 ? '' : `own thresholds: ${scopes.join(', ')}`
}
