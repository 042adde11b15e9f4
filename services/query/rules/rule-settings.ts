import { flag } from '#shared/config/setting.ts'

/** What the operator decides about what rules tell. */
export const ruleSettings = {
  HEALTH_ALERT_STATEMENT_VALUES: flag(
    false,
    'Alerts show the statements that they are about with their values; else as patterns, with ? for each value.',
  ),
} as const
