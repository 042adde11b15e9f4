import type { Billing } from '#proto/http/billing.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type Setting, secret, read, optional } from '#shared/config/setting.ts'

const edition: Setting<string | undefined> = {
  doc: 'What the installation calls itself, on the about page and in GET /api/version: community by default, enterprise where there is a licence key, cloud where people are billed. Every edition has every function.',
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

/** What the installation calls itself. */
export const editionSettings = {
  SVC_EDITION: edition,
  SVC_LICENSE_KEY: secret(
    'Licence key. With it the installation may call itself enterprise, and does while SVC_EDITION is unset; it opens no function and is told to nobody.',
  ),
} as const

/** Of an installation that says nothing, or that says more than it has a licence for. */
const withoutLicence = 'community'
const withLicence = 'enterprise'
/** The edition whose people are billed. */
const cloudEdition = 'cloud'

/** What the installation calls itself: what the run says, else what the web was built with, else what its licence key means. */
export const editionOf = (env: Environment, build: BuildFacts | undefined): string => {
  const { SVC_LICENSE_KEY: key } = read(editionSettings, env)
  const claimed = claimedEdition(env, build) ?? (key === undefined ? withoutLicence : withLicence)
  return claimed === withLicence && key === undefined ? withoutLicence : claimed
}

const claimedEdition = (env: Environment, build: BuildFacts | undefined): string | undefined =>
  read(editionSettings, env).SVC_EDITION ?? (build?.client.CLIENT_EDITION?.trim().toLowerCase() || undefined)

/** A variable that is set and changes nothing here. */
export interface IgnoredSetting {
  name: string
  /** Why, in a sentence that holds no value. */
  reason: string
}

/** An edition that is claimed without its licence key, and a key that the edition needs not. */
export const ignoredEditionSettings = (env: Environment, build: BuildFacts | undefined): IgnoredSetting[] => {
  const claimed = claimedEdition(env, build)
  const hasKey = read(editionSettings, env).SVC_LICENSE_KEY !== undefined
  if (claimed === withLicence && !hasKey)
    return [{ name: 'SVC_EDITION', reason: 'Enterprise needs SVC_LICENSE_KEY: the edition stays community.' }]
  if (claimed !== undefined && claimed !== withLicence && hasKey)
    return [{ name: 'SVC_LICENSE_KEY', reason: `The ${claimed} edition needs no licence key.` }]
  return []
}

/** What the cloud edition's billing needs to know; without effect in every other edition. */
export const billingSettings = {
  SVC_BILLING_SERVER: optional(
    'Address where people of the cloud edition manage what they pay; no effect in other editions.',
  ),
  BILLING_ACCESS_TOKEN: secret(
    'Token of the billing server, for processes of the cloud edition that ask it; nothing in this product does.',
  ),
  BILLING_WEBHOOK_SECRET: secret(
    'Secret of the billing server’s webhooks, for processes of the cloud edition that take them; nothing in this product does.',
  ),
} as const

/** Whether and where people are billed. */
export const billingOf = (env: Environment, build: BuildFacts | undefined): Billing => {
  if (editionOf(env, build) !== cloudEdition)
    return free('Nobody is billed here: billing belongs to the cloud edition.')
  const { SVC_BILLING_SERVER: server } = read(billingSettings, env)
  if (server === undefined) return free('Nobody is billed here: the operator has not set SVC_BILLING_SERVER.')
  if (!isWebAddress(server)) return free('Nobody is billed here: SVC_BILLING_SERVER is no http or https URL.')
  return { active: true, message: 'The billing server shows what is paid and lets people change it.', server }
}

const free = (message: string): Billing => ({ active: false, message, server: null })

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')

/** Variables of billing that are set and change nothing. */
export const ignoredBillingSettings = (env: Environment, build: BuildFacts | undefined): IgnoredSetting[] => {
  const settings = read(billingSettings, env)
  const { active, message } = billingOf(env, build)
  const isCloud = editionOf(env, build) === cloudEdition
  const reasonOf = (inCloud: string) => (isCloud ? inCloud : message)
  const ignoredSettings: IgnoredSetting[] = []
  if (settings.SVC_BILLING_SERVER !== undefined && !active)
    ignoredSettings.push({ name: 'SVC_BILLING_SERVER', reason: message })
  if (settings.BILLING_ACCESS_TOKEN !== undefined)
    ignoredSettings.push({ name: 'BILLING_ACCESS_TOKEN', reason: reasonOf('Nothing here asks the billing server.') })
  if (settings.BILLING_WEBHOOK_SECRET !== undefined)
    ignoredSettings.push({
      name: 'BILLING_WEBHOOK_SECRET',
      reason: reasonOf('Nothing here takes webhooks of the billing server.'),
    })
  return ignoredSettings
}
