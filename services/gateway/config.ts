import { displayZoneSettings } from '#shared/config/display-zone.ts'
import type { Environment } from '#shared/config/environment.ts'
import { optional, type SettingProblem, whole } from '#shared/config/setting.ts'
import { subscriptionSettings } from '#shared/config/webhook-subscriptions.ts'
import { agentDoorSettings } from './agent/config.ts'
import { expositionSettings } from './exposition/config.ts'
import { auditSettings } from './audit/config.ts'
import { authProblems, authSettings } from './auth/config.ts'
import { deviceProblems, deviceSettings } from './auth/device/config.ts'
import { billingSettings } from './billing/config.ts'
import { allowedHostSettings } from './server/allowed-hosts.ts'
import { addressSettings } from './server/client-address.ts'
import { conversationFeatureSettings } from './conversations/config.ts'
import { cronSettings } from './cron/config.ts'
import { userConnectionSettings } from './connections/config.ts'
import { crossOriginSettings } from './server/cross-origin.ts'
import { eventSettings } from './events/config.ts'
import { edgeSettings } from './server/edge.ts'
import { editionSettings } from './edition/config.ts'
import { featureSettings } from './features/config.ts'
import { featureFileProblems } from './features/file.ts'
import { limitBindings, limitSettings } from './limits/config.ts'
import { portProblems, portSettings } from './server/ports.ts'
import { publicUrlSettings } from './request/public-url.ts'
import { toolServerSettings } from './tool-server/config.ts'
import { usageReportSettings } from './usage-report/config.ts'
import { webSettings } from './web/web-build.ts'
import { webhookSettings } from './webhooks/config.ts'

/** What the gateway obeys. */
export const settings = {
  ...portSettings,
  SVC_REQUEST_TIMEOUT_MS: whole(
    75_000,
    'How long the answer to one request may take in all, in milliseconds; keep it above COLUMNDB_MAX_EXECUTION_TIME.',
    { min: 100, max: 3_600_000 },
  ),
  APP_VERSION: optional(
    'Version of the application that model gateways are told; on edge platforms also the ui version of GET /api/version.',
  ),
  ...auditSettings,
  ...edgeSettings,
  ...webSettings,
  ...editionSettings,
  ...billingSettings,
  ...publicUrlSettings,
  ...authSettings,
  ...deviceSettings,
  ...expositionSettings,
  ...featureSettings,
  ...userConnectionSettings,
  ...conversationFeatureSettings,
  ...subscriptionSettings,
  ...addressSettings,
  ...allowedHostSettings,
  ...limitSettings,
  ...limitBindings,
  ...cronSettings,
  ...eventSettings,
  ...webhookSettings,
  ...usageReportSettings,
  ...displayZoneSettings,
  ...crossOriginSettings,
  ...toolServerSettings,
  ...agentDoorSettings,
} as const

/** What is wrong with the settings taken together. */
export const problems = (env: Environment): readonly SettingProblem[] => [
  ...portProblems(env),
  ...authProblems(env),
  ...deviceProblems(env),
  ...featureFileProblems(env),
]
