import { flagSetting } from '#shared/config/setting.ts'

export const ruleSettings = {
  HEALTH_ALERT_STATEMENT_VALUES: flagSetting(
    false,
    'Whether alerts include queries with their literal values; otherwise each value is replaced by ?.',
  ),
} as const
