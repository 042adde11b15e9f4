import type { RuleSettings } from '#proto/alert-policy.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  maybeFlag,
  oneOf,
  text,
  whole,
  problemsOf,
  read,
  type Setting,
  type SettingProblem,
} from '#shared/config/setting.ts'
import { forgiving, strictFlag, said } from '../../forgiving-settings.ts'
import { emptyLayer, type Layer } from './layer.ts'

/** As they must be written. */
const strictPolicySettings = {
  HEALTH_ALERT_ENABLED: {
    ...strictFlag(maybeFlag('Master switch: off pauses dispatch; checks still run.')),
    fallback: 'on when any channel is configured',
  },
  HEALTH_ALERT_MIN_SEVERITY: oneOf(['warning', 'critical'], 'warning', 'Least severe finding that people are told of.'),
  HEALTH_ALERT_COOLDOWN_MINUTES: whole(
    60,
    'Minutes before a condition is told again at the same severity; 0 tells it once until it escalates or recovers.',
  ),
  HEALTH_ALERT_DIGEST_MINUTES: whole(
    0,
    'Minutes for which findings that are not critical are gathered into one message; 0 sends each at once.',
    { max: 1_440 },
  ),
  HEALTH_HYSTERESIS_BREACHES: whole(
    1,
    'Consecutive sweeps that a worsening must persist; for one rule HEALTH_HYSTERESIS_<RULE_ID>_BREACHES, its id in capitals with underscores for dashes.',
    { min: 1 },
  ),
  HEALTH_HYSTERESIS_CLEARS: whole(
    2,
    'Consecutive sweeps that must be ok before a recovery; for one rule HEALTH_HYSTERESIS_<RULE_ID>_CLEARS.',
    { min: 1 },
  ),
} as const

/** What the environment says of alerts: texts that cannot be meant count as unset. Thresholds of one rule are HEALTH_THRESHOLD_<RULE_ID>_WARNING and _CRITICAL. */
export const policySettings = {
  ...forgiving(strictPolicySettings),
  SVC_HEALTH_CONFIG_DIRECTORY: text(
    '/etc/watchhouse/health.d',
    'Folder of alert definitions: alerts, routing, channels, quiet-hours, maintenance and digest, each a YAML file; read once, and not in cloud mode.',
  ),
  SVC_ALERT_HISTORY_DAYS: whole(90, 'Age in days at which the history of alerts and ended episodes are removed.', {
    min: 1,
    max: 3_650,
  }),
} as const

const defaults = read(strictPolicySettings, {})

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
    enabled: said('HEALTH_ALERT_ENABLED', strictPolicySettings.HEALTH_ALERT_ENABLED, env),
    minSeverity: said('HEALTH_ALERT_MIN_SEVERITY', strictPolicySettings.HEALTH_ALERT_MIN_SEVERITY, env),
    cooldownMinutes: said('HEALTH_ALERT_COOLDOWN_MINUTES', strictPolicySettings.HEALTH_ALERT_COOLDOWN_MINUTES, env),
    breaches: said('HEALTH_HYSTERESIS_BREACHES', strictPolicySettings.HEALTH_HYSTERESIS_BREACHES, env),
    clears: said('HEALTH_HYSTERESIS_CLEARS', strictPolicySettings.HEALTH_HYSTERESIS_CLEARS, env),
  },
  digestMinutes: said('HEALTH_ALERT_DIGEST_MINUTES', strictPolicySettings.HEALTH_ALERT_DIGEST_MINUTES, env),
  rules: ruleSettings(env),
})

/** Variables that cannot be meant, for whose texts the defaults stand in. */
export const invalidVariables = (env: Environment): readonly SettingProblem[] => [
  ...problemsOf(strictPolicySettings, env),
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
