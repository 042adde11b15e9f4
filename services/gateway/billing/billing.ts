import type { BuildFacts } from '#proto/http/build.ts'
import type { Billing } from '#proto/http/billing.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { cloudEdition, editionOf } from '../edition/edition.ts'
import type { Unobeyed } from '../unobeyed.ts'
import { billingSettings } from './config.ts'

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
export const unobeyedBilling = (env: Environment, build: BuildFacts | undefined): Unobeyed[] => {
  const settings = read(billingSettings, env)
  const { active, message } = billingOf(env, build)
  const isCloud = editionOf(env, build) === cloudEdition
  const reasonOf = (inCloud: string) => (isCloud ? inCloud : message)
  const unobeyed: Unobeyed[] = []
  if (settings.SVC_BILLING_SERVER !== undefined && !active)
    unobeyed.push({ name: 'SVC_BILLING_SERVER', reason: message })
  if (settings.BILLING_ACCESS_TOKEN !== undefined)
    unobeyed.push({ name: 'BILLING_ACCESS_TOKEN', reason: reasonOf('Nothing here asks the billing server.') })
  if (settings.BILLING_WEBHOOK_SECRET !== undefined)
    unobeyed.push({
      name: 'BILLING_WEBHOOK_SECRET',
      reason: reasonOf('Nothing here takes webhooks of the billing server.'),
    })
  return unobeyed
}
