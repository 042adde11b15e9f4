import type { Billing } from '#proto/http/billing.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { optional, secret, read } from '#shared/config/setting.ts'
import { cloudEdition, editionOf, type IgnoredSetting } from './edition.ts'

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
