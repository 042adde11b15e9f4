import { inCloudMode } from './cloud-mode.ts'
import type { Environment } from './environment.ts'
import { maybeFlag, read } from './setting.ts'

/** The switch of webhooks that people bring themselves, obeyed where they are kept and at the door. */
export const subscriptionSettings = {
  SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: {
    ...maybeFlag(
      'Let people subscribe webhooks of their own to alerts; needs the identity provider and IDP_SECRET_KEY, CONVERSATIONS_EDGESQL, and SVC_USER_CONNECTIONS_ENCRYPTION_KEY.',
    ),
    fallback: 'true in cloud mode, else false',
  },
} as const

/** Whether people may subscribe webhooks, as far as the switch says. */
export const offersSubscriptions = (env: Environment): boolean =>
  read(subscriptionSettings, env).SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS ?? inCloudMode(env)
