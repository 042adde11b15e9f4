import { maybeFlag, oneOf, text, whole } from '#shared/config/setting.ts'
import { forgiving, strictFlag } from './forgiving.ts'

/** As they must be written. */
export const strictPolicySettings = {
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
