import { flag } from '#shared/config/setting.ts'

/** Whether people may keep connections to databases of their own. */
export const userConnectionSettings = {
  SVC_FEATURE_USER_CONNECTIONS_DB: flag(
    false,
    'Let people keep connections of their own; needs a state database and SVC_USER_CONNECTIONS_ENCRYPTION_KEY.',
    { audience: 'client' },
  ),
} as const
