import { displayZoneSettings, subscriptionSettings } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import {
  findSettingProblems,
  parseSettings,
  type SettingProblem,
  textSetting,
  wholeNumberSetting,
  optionalTextSetting,
} from '#shared/config/setting.ts'
import { agentRouteSettings, mcpAccessSettings } from './agent/config.ts'
import { auditSettings } from './audit/open-audit.ts'
import { findAuthProblems, authSettings } from './auth/config.ts'
import { findDeviceLoginProblems, deviceSettings } from './auth/device/config.ts'
import { dashboardSettings } from './dashboards/provisioned.ts'
import {
  expositionSettings,
  conversationFeatureSettings,
  userConnectionSettings,
  featureSettings,
} from './features/config.ts'
import { findFeatureFileProblems } from './features/policy.ts'
import { billingSettings, editionSettings } from './installation/edition.ts'
import { usageReportSettings } from './installation/usage-report.ts'
import { rateLimitBindings, rateLimitSettings } from './limits/config.ts'
import { clientAddressSettings, edgeSettings } from './request/client-address.ts'
import { publicUrlSettings } from './request/public-url.ts'
import { allowedHostSettings } from './server/allowed-hosts.ts'
import { crossOriginSettings } from './server/cross-origin.ts'
import { webSettings } from './web/web-build.ts'
import { cronSettings } from './webhooks/bearer-secrets.ts'
import { eventSettings } from './webhooks/ingest-credentials.ts'
import { webhookSettings } from './webhooks/signature.ts'

/** Settings of the listener. */
export const portSettings = {
  PORT: wholeNumberSetting(3000, 'Port of the HTTP API and the web UI; 0 selects a free port.', { max: 65_535 }),
  HOST: textSetting('0.0.0.0', 'Address that the HTTP API and the web UI bind to.'),
} as const

/** All settings of the gateway. */
export const settings = {
  ...portSettings,
  SVC_REQUEST_TIMEOUT_MS: wholeNumberSetting(
    75_000,
    'Timeout of one request in milliseconds; must exceed COLUMNDB_MAX_EXECUTION_TIME.',
    { min: 100, max: 3_600_000 },
  ),
  APP_VERSION: optionalTextSetting(
    'Application version sent to model providers; on edge platforms also the ui version of GET /api/version.',
  ),
  ...auditSettings,
  ...dashboardSettings,
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
  ...clientAddressSettings,
  ...allowedHostSettings,
  ...rateLimitSettings,
  ...rateLimitBindings,
  ...cronSettings,
  ...eventSettings,
  ...webhookSettings,
  ...usageReportSettings,
  ...displayZoneSettings,
  ...crossOriginSettings,
  ...mcpAccessSettings,
  ...agentRouteSettings,
} as const

/** Returns the conflicts between settings. */
export const problems = (env: Environment): readonly SettingProblem[] => [
  ...findPortProblems(env),
  ...findAuthProblems(env),
  ...findDeviceLoginProblems(env),
  ...findFeatureFileProblems(env),
]

const { OPERATIONS_PORT, OPERATIONS_HOST } = processSettings
const both = { ...portSettings, OPERATIONS_PORT, OPERATIONS_HOST }
const anyAddress = new Set(['0.0.0.0', '::'])

/** Returns an error if the public and the operations listener use the same port. */
export const findPortProblems = (env: Environment): readonly SettingProblem[] => {
  if (findSettingProblems(both, env).length > 0) return []
  const { PORT: port, HOST: host, ...operations } = parseSettings(both, env)
  const overlaps = [host, operations.OPERATIONS_HOST].some((each) => anyAddress.has(each))
  const isSame = port !== 0 && port === operations.OPERATIONS_PORT && (overlaps || host === operations.OPERATIONS_HOST)
  const sentence = `must not be ${port}, which is the port of the HTTP API and the web UI (PORT)`
  return isSame ? [{ name: 'OPERATIONS_PORT', sentence }] : []
}
