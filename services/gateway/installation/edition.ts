import type { BillingStatus } from '#proto/http/billing.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { optionalTextSetting, parseFlag, parseSettings, secretSetting, type Setting } from '#shared/config/setting.ts'
import type { Logger } from 'pino'
import { isCloudMode } from '#shared/config/shared-settings.ts'

export interface CloudMode {
  build: boolean
  runtime: boolean
  warning: string | null
}

/** Returns the cloud mode of the web build and of the server, and a warning if only the server has it. */
export const resolveCloudMode = (build: BuildInfo | undefined, env: Environment): CloudMode => {
  const runtime = isCloudMode(env)
  const built = parseFlag(build?.client.CLIENT_CLOUD_MODE ?? undefined, ['cloud']) ?? false
  const warning =
    runtime && !built
      ? 'cloud mode is set at run time but the web UI was built without it: the server enforces it, the web UI does not show it'
      : null
  return { build: built, runtime, warning }
}

/** Logs a warning when run time and build time disagree; the server follows the run-time setting. */
export const warnOfCloudModeMismatch = (build: BuildInfo | undefined, env: Environment, log: Logger): void => {
  const mode = resolveCloudMode(build, env)
  if (mode.warning !== null) log.warn({ reason: mode.warning }, 'cloud mode mismatch')
  if (mode.build && !mode.runtime)
    log.warn(
      {
        reason:
          'the web UI was built for cloud mode, but cloud mode is not set at run time; the server runs without it',
      },
      'cloud mode mismatch',
    )
}

const edition: Setting<string | undefined> = {
  doc: 'Edition shown on the about page and in GET /api/version: community by default, enterprise with a license key, cloud with billing. All editions have all features.',
  audience: 'client',
  fallback: 'none',
  allowed: 'a word of letters, digits and dashes',
  parse: (given) => {
    if (given === undefined) return undefined
    const word = given.trim().toLowerCase()
    if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(word))
      throw new Error('must be a word of at most 32 letters, digits and dashes')
    return word
  },
}

/** Settings of the edition. */
export const editionSettings = {
  SVC_EDITION: edition,
  SVC_LICENSE_KEY: secretSetting(
    'License key. Sets the edition to enterprise while SVC_EDITION is unset. It unlocks no features and is never sent anywhere.',
  ),
} as const

/** The default edition, which also replaces `enterprise` without a license key. */
const communityEdition = 'community'
const enterpriseEdition = 'enterprise'
/** The only edition with billing. */
const cloudEdition = 'cloud'

/** Returns the edition: from SVC_EDITION, else from the web build, else from the license key. */
export const resolveEdition = (env: Environment, build: BuildInfo | undefined): string => {
  const { SVC_LICENSE_KEY: key } = parseSettings(editionSettings, env)
  const claimed = claimedEdition(env, build) ?? (key === undefined ? communityEdition : enterpriseEdition)
  return claimed === enterpriseEdition && key === undefined ? communityEdition : claimed
}

const claimedEdition = (env: Environment, build: BuildInfo | undefined): string | undefined =>
  parseSettings(editionSettings, env).SVC_EDITION ?? (build?.client.CLIENT_EDITION?.trim().toLowerCase() || undefined)

/** A variable that is set but has no effect. */
export interface IgnoredSetting {
  name: string
  /** Why the variable has no effect, without its value. */
  reason: string
}

/** Returns SVC_EDITION if it requires a missing license key, or SVC_LICENSE_KEY if the edition does not use it. */
export const findIgnoredEditionSettings = (env: Environment, build: BuildInfo | undefined): IgnoredSetting[] => {
  const claimed = claimedEdition(env, build)
  const hasKey = parseSettings(editionSettings, env).SVC_LICENSE_KEY !== undefined
  if (claimed === enterpriseEdition && !hasKey)
    return [{ name: 'SVC_EDITION', reason: 'SVC_LICENSE_KEY is not set; the edition remains "community"' }]
  if (claimed !== undefined && claimed !== enterpriseEdition && hasKey)
    return [{ name: 'SVC_LICENSE_KEY', reason: `edition "${claimed}" does not use a license key` }]
  return []
}

/** Settings of billing; they have no effect outside the cloud edition. */
export const billingSettings = {
  SVC_BILLING_SERVER: optionalTextSetting(
    'URL where users of the cloud edition manage billing; ignored in other editions.',
  ),
  BILLING_ACCESS_TOKEN: secretSetting(
    'Token of the billing server, for other processes of the cloud edition; not used by this service.',
  ),
  BILLING_WEBHOOK_SECRET: secretSetting(
    'Secret of the billing server’s webhooks, for other processes of the cloud edition; not used by this service.',
  ),
} as const

/** Returns whether billing is active, a message for users, and the URL of the billing server; null if inactive. */
export const resolveBilling = (env: Environment, build: BuildInfo | undefined): BillingStatus => {
  if (resolveEdition(env, build) !== cloudEdition) return noBilling('Billing is available in the cloud edition only.')
  const { SVC_BILLING_SERVER: server } = parseSettings(billingSettings, env)
  if (server === undefined) return noBilling('Billing is not configured: SVC_BILLING_SERVER is not set.')
  if (!isWebAddress(server))
    return noBilling('Billing is not configured: SVC_BILLING_SERVER is not an http or https URL.')
  return { active: true, message: 'The billing server lets users manage billing.', server }
}

const noBilling = (message: string): BillingStatus => ({ active: false, message, server: null })

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')

/** Returns the billing variables that are set but have no effect. */
export const findIgnoredBillingSettings = (env: Environment, build: BuildInfo | undefined): IgnoredSetting[] => {
  const settings = parseSettings(billingSettings, env)
  const { active, message } = resolveBilling(env, build)
  const isCloud = resolveEdition(env, build) === cloudEdition
  const reasonOf = (inCloud: string) => (isCloud ? inCloud : message)
  const ignoredSettings: IgnoredSetting[] = []
  if (settings.SVC_BILLING_SERVER !== undefined && !active)
    ignoredSettings.push({ name: 'SVC_BILLING_SERVER', reason: message })
  if (settings.BILLING_ACCESS_TOKEN !== undefined)
    ignoredSettings.push({
      name: 'BILLING_ACCESS_TOKEN',
      reason: reasonOf('this service does not call the billing server'),
    })
  if (settings.BILLING_WEBHOOK_SECRET !== undefined)
    ignoredSettings.push({
      name: 'BILLING_WEBHOOK_SECRET',
      reason: reasonOf('this service receives no webhooks of the billing server'),
    })
  return ignoredSettings
}
