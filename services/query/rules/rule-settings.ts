import { flag } from '#shared/config/setting.ts'

export const ruleSettings = {
  HEALTH_ALERT_STATEMENT_VALUES: flag(
    false,
    'Whether alerts include queries with their literal values; otherwise each value is replaced by ?.',
  ),
} as const
