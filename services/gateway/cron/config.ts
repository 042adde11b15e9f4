import { signingKey } from '#shared/config/setting.ts'

/** What lets a scheduler in. */
export const cronSettings = {
  CRON_SECRET: signingKey('Bearer of the cron routes, which stay shut without it.'),
} as const
