import type { RuleSettings } from '#proto/alert-policy.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  optionalFlagSetting,
  choiceSetting,
  textSetting,
  wholeNumberSetting,
  findSettingProblems,
  parseSettings,
  type Setting,
  type SettingProblem,
} from '#shared/config/setting.ts'
import { makeLenient, makeFlagStrict, parseIfValid } from '../../lenient-settings.ts'
import { createEmptyLayer, type PolicyLayer } from './layer.ts'

/** Alert settings with strict parsers, used to report invalid values. */
const strictPolicySettings = {
  HEALTH_ALERT_ENABLED: {
    ...makeFlagStrict(optionalFlagSetting('Whether alerts are sent. Off pauses notifications; sweeps still run.')),
    fallback: 'on when any channel is configured',
  },
  HEALTH_ALERT_MIN_SEVERITY: choiceSetting(['warning', 'critical'], 'warning', 'Minimum severity of notifications.'),
  HEALTH_ALERT_COOLDOWN_MINUTES: wholeNumberSetting(
    60,
    'Minutes until a reminder is sent for an alert that keeps firing at the same severity; 0 disables reminders.',
  ),
  HEALTH_ALERT_DIGEST_MINUTES: wholeNumberSetting(
    0,
    'Digest window in minutes: non-critical alerts are collected into one message; 0 sends each at once.',
    { max: 1_440 },
  ),
  HEALTH_HYSTERESIS_BREACHES: wholeNumberSetting(
    1,
    'Consecutive breaching sweeps before an alert fires; for one rule HEALTH_HYSTERESIS_<RULE_ID>_BREACHES, its id in capitals with underscores for dashes.',
    { min: 1 },
  ),
  HEALTH_HYSTERESIS_CLEARS: wholeNumberSetting(
    2,
    'Consecutive ok sweeps before an alert recovers; for one rule HEALTH_HYSTERESIS_<RULE_ID>_CLEARS.',
    { min: 1 },
  ),
} as const

/**
 * Alert settings from variables; invalid values count as unset. Thresholds of one rule are
 * HEALTH_THRESHOLD_<RULE_ID>_WARNING and _CRITICAL.
 */
export const policySettings = {
  ...makeLenient(strictPolicySettings),
  SVC_HEALTH_CONFIG_DIRECTORY: textSetting(
    '/etc/watchhouse/health.d',
    'Folder of alert definitions: alerts, routing, channels, quiet-hours, maintenance and digest, each a YAML file. Read once at start; ignored in cloud mode.',
  ),
  SVC_ALERT_HISTORY_DAYS: wholeNumberSetting(90, 'Retention of alert history and ended episodes in days.', {
    min: 1,
    max: 3_650,
  }),
} as const

const defaults = parseSettings(strictPolicySettings, {})

/** Default alert settings. Alerting is enabled by default if any channel is configured. */
export const defaultAlertSettings = {
  minSeverity: defaults.HEALTH_ALERT_MIN_SEVERITY,
  cooldownMinutes: defaults.HEALTH_ALERT_COOLDOWN_MINUTES,
  breaches: defaults.HEALTH_HYSTERESIS_BREACHES,
  clears: defaults.HEALTH_HYSTERESIS_CLEARS,
}
/** Default digest window in minutes. */
export const defaultDigestMinutes = defaults.HEALTH_ALERT_DIGEST_MINUTES

/** Returns the layer of variables that are set and valid. */
export const buildEnvironmentLayer = (env: Environment): PolicyLayer => ({
  ...createEmptyLayer('environment'),
  general: {
    enabled: parseIfValid('HEALTH_ALERT_ENABLED', strictPolicySettings.HEALTH_ALERT_ENABLED, env),
    minSeverity: parseIfValid('HEALTH_ALERT_MIN_SEVERITY', strictPolicySettings.HEALTH_ALERT_MIN_SEVERITY, env),
    cooldownMinutes: parseIfValid(
      'HEALTH_ALERT_COOLDOWN_MINUTES',
      strictPolicySettings.HEALTH_ALERT_COOLDOWN_MINUTES,
      env,
    ),
    breaches: parseIfValid('HEALTH_HYSTERESIS_BREACHES', strictPolicySettings.HEALTH_HYSTERESIS_BREACHES, env),
    clears: parseIfValid('HEALTH_HYSTERESIS_CLEARS', strictPolicySettings.HEALTH_HYSTERESIS_CLEARS, env),
  },
  digestMinutes: parseIfValid('HEALTH_ALERT_DIGEST_MINUTES', strictPolicySettings.HEALTH_ALERT_DIGEST_MINUTES, env),
  rules: readRuleSettings(env),
})

/** Returns the variables with invalid values, which are ignored. */
export const findInvalidVariables = (env: Environment): readonly SettingProblem[] => [
  ...findSettingProblems(strictPolicySettings, env),
  ...listRuleVariables(env).flatMap(({ name, setting }) => findSettingProblems({ [name]: setting }, env)),
]

const sweeps = wholeNumberSetting(1, '', { min: 1 })
const threshold: Setting<number> = {
  doc: '',
  audience: 'server',
  fallback: 'the rule’s own',
  allowed: 'number',
  parse: (text) => {
    const value = text?.trim() ? Number(text) : Number.NaN
    if (!Number.isFinite(value)) throw new Error('must be a number')
    return value
  },
}

/** Patterns of variables whose names contain a rule id. */
const ruleVariablePatterns: readonly { pattern: RegExp; field: keyof RuleSettings; setting: Setting<number> }[] = [
  { pattern: /^HEALTH_HYSTERESIS_(?<rule>\w+)_BREACHES$/, field: 'breaches', setting: sweeps },
  { pattern: /^HEALTH_HYSTERESIS_(?<rule>\w+)_CLEARS$/, field: 'clears', setting: sweeps },
  { pattern: /^HEALTH_THRESHOLD_(?<rule>\w+)_WARNING$/, field: 'warning', setting: threshold },
  { pattern: /^HEALTH_THRESHOLD_(?<rule>\w+)_CRITICAL$/, field: 'critical', setting: threshold },
]

const listRuleVariables = (env: Environment) =>
  Object.keys(env).flatMap((name) =>
    ruleVariablePatterns.flatMap(({ pattern, field, setting }) => {
      const rule = pattern.exec(name)?.groups?.rule
      return rule === undefined || env[name] === '' ? [] : [{ name, rule: toRuleId(rule), field, setting }]
    }),
  )

/** Converts the rule id in a variable name: `DISK_USAGE` becomes `disk-usage`. */
const toRuleId = (written: string): string => written.toLowerCase().replaceAll('_', '-')

const readRuleSettings = (env: Environment): Record<string, RuleSettings> => {
  const rules: Record<string, RuleSettings> = {}
  for (const { name, rule, field, setting } of listRuleVariables(env)) {
    const value = parseIfValid(name, setting, env)
    if (value !== undefined) rules[rule] = { ...rules[rule], [field]: value }
  }
  return rules
}
