import type { Environment } from './environment.ts'
import {
  flagSetting,
  optionalTextSetting,
  parseSettings,
  optionalFlagSetting,
  signingKeySetting,
  type Setting,
} from './setting.ts'

/** The run-time settings of cloud mode. */
export const cloudSettings = {
  SVC_CLOUD_MODE: flagSetting(false, 'Cloud mode; must also be set when the web UI is built.', { alsoTrue: ['cloud'] }),
  SVC_DEPLOYMENT_MODE: optionalTextSetting('Deployment mode; cloud enables cloud mode.'),
} as const

/** Returns whether the server runs in cloud mode, regardless of the web build. */
export const isCloudMode = (env: Environment): boolean => {
  const { SVC_CLOUD_MODE, SVC_DEPLOYMENT_MODE } = parseSettings(cloudSettings, env)
  return SVC_CLOUD_MODE || SVC_DEPLOYMENT_MODE?.trim().toLowerCase() === 'cloud'
}

/** The setting that enables webhook subscriptions, read by `alert-dispatcher` and the gateway. */
export const subscriptionSettings = {
  SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: {
    ...optionalFlagSetting(
      'Allow users to subscribe their own webhooks to alerts; requires the identity provider and IDP_SECRET_KEY, CONVERSATIONS_EDGESQL, and SVC_USER_CONNECTIONS_ENCRYPTION_KEY.',
    ),
    fallback: 'true in cloud mode, else false',
  },
} as const

/** Returns whether users may subscribe webhooks. */
export const areWebhookSubscriptionsEnabled = (env: Environment): boolean =>
  parseSettings(subscriptionSettings, env).SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS ?? isCloudMode(env)

/** The signing secret of the Slack application. With it, messages have buttons and the gateway accepts their clicks. */
export const slackSigningSettings = {
  CHATAPP_SIGNING_SECRET: signingKeySetting(
    'Signing secret of the Slack application. Alerts get Acknowledge and Dismiss buttons; signed clicks are received at /api/webhooks/chat-application.',
  ),
} as const

/** Returns whether the gateway can authenticate clicks in Slack messages. */
export const canVerifySlackActions = (env: Environment): boolean =>
  parseSettings(slackSigningSettings, env).CHATAPP_SIGNING_SECRET !== undefined

const timeZoneSetting = (doc: string): Setting<string | undefined> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: 'IANA time zone, such as Europe/Berlin',
  parse: (text) => {
    if (text === undefined || isTimeZone(text)) return text
    throw new Error('must be an IANA time zone, such as Europe/Berlin')
  },
})

/** The time zone of displayed dates and times. */
export const displayZoneSettings = {
  COLUMNDB_TZ: timeZoneSetting(
    'Default time zone of the web UI, messages, reports and chart buckets. Unset: browser time in the web UI, UTC in messages, host time for chart buckets.',
  ),
} as const

/** Returns the configured display zone; undefined if none is set. */
export const readDisplayZone = (env: Environment): string | undefined =>
  parseSettings(displayZoneSettings, env).COLUMNDB_TZ

/** Returns whether the time zone exists and its name is safe in SQL. */
export const isTimeZone = (zone: string): boolean => {
  if (!/^[A-Za-z][\w+\-/]{0,63}$/.test(zone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== ''
  } catch {
    return false
  }
}
