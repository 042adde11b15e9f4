import type { RuleSettings } from '#proto/alert-policy.ts'
import type { Environment } from '#shared/config/environment.ts'
import { problemsOf, read, type Setting, type SettingProblem, whole } from '#shared/config/setting.ts'
import { said } from './forgiving.ts'
import { emptyLayer, type Layer } from './layer.ts'
import { strictPolicySettings as settings } from './settings.ts'

const defaults = read(settings, {})

/** What holds where nobody says anything; whether alerts are on at all is then told by the channels. */
export const defaultGeneral = {
  minSeverity: defaults.HEALTH_ALERT_MIN_SEVERITY,
  cooldownMinutes: defaults.HEALTH_ALERT_COOLDOWN_MINUTES,
  breaches: defaults.HEALTH_HYSTERESIS_BREACHES,
  clears: defaults.HEALTH_HYSTERESIS_CLEARS,
}
/** Minutes for which findings are gathered then. */
export const defaultDigestMinutes = defaults.HEALTH_ALERT_DIGEST_MINUTES

/** What the variables say that are set and can be meant. */
export const environmentLayer = (env: Environment): Layer => ({
  ...emptyLayer('environment'),
  general: {
    enabled: said('HEALTH_ALERT_ENABLED', settings.HEALTH_ALERT_ENABLED, env),
    minSeverity: said('HEALTH_ALERT_MIN_SEVERITY', settings.HEALTH_ALERT_MIN_SEVERITY, env),
    cooldownMinutes: said('HEALTH_ALERT_COOLDOWN_MINUTES', settings.HEALTH_ALERT_COOLDOWN_MINUTES, env),
    breaches: said('HEALTH_HYSTERESIS_BREACHES', settings.HEALTH_HYSTERESIS_BREACHES, env),
    clears: said('HEALTH_HYSTERESIS_CLEARS', settings.HEALTH_HYSTERESIS_CLEARS, env),
  },
  digestMinutes: said('HEALTH_ALERT_DIGEST_MINUTES', settings.HEALTH_ALERT_DIGEST_MINUTES, env),
  rules: ruleSettings(env),
})

/** Variables that cannot be meant, for whose texts the defaults stand in. */
export const invalidVariables = (env: Environment): readonly SettingProblem[] => [
  ...problemsOf(settings, env),
  ...ruleVariables(env).flatMap(({ name, setting }) => problemsOf({ [name]: setting }, env)),
]

const sweeps = whole(1, '', { min: 1 })
const threshold: Setting<number> = {
  doc: '',
  audience: 'server',
  fallback: 'the rule’s own',
  allowed: 'number',
  parse: (given) => {
    const value = given?.trim() ? Number(given) : Number.NaN
    if (!Number.isFinite(value)) throw new Error('must be a number')
    return value
  },
}

/** Variables whose names have the id of a rule in them. */
const families: readonly { pattern: RegExp; field: keyof RuleSettings; setting: Setting<number> }[] = [
  { pattern: /^HEALTH_HYSTERESIS_(?<rule>\w+)_BREACHES$/, field: 'breaches', setting: sweeps },
  { pattern: /^HEALTH_HYSTERESIS_(?<rule>\w+)_CLEARS$/, field: 'clears', setting: sweeps },
  { pattern: /^HEALTH_THRESHOLD_(?<rule>\w+)_WARNING$/, field: 'warning', setting: threshold },
  { pattern: /^HEALTH_THRESHOLD_(?<rule>\w+)_CRITICAL$/, field: 'critical', setting: threshold },
]

const ruleVariables = (env: Environment) =>
  Object.keys(env).flatMap((name) =>
    families.flatMap(({ pattern, field, setting }) => {
      const rule = pattern.exec(name)?.groups?.rule
      return rule === undefined || env[name] === '' ? [] : [{ name, rule: idOf(rule), field, setting }]
    }),
  )

/** Ids are written in capitals, and with underscores for dashes. */
const idOf = (written: string): string => written.toLowerCase().replaceAll('_', '-')

const ruleSettings = (env: Environment): Record<string, RuleSettings> => {
  const rules: Record<string, RuleSettings> = {}
  for (const { name, rule, field, setting } of ruleVariables(env)) {
    const value = said(name, setting, env)
    if (value !== undefined) rules[rule] = { ...rules[rule], [field]: value }
  }
  return rules
}
