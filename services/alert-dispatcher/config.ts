import {
  displayZoneSettings,
  areWebhookSubscriptionsEnabled,
  subscriptionSettings,
} from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { SettingProblem } from '#shared/config/setting.ts'
import { edgeBindingSettings, findUnsharedFileProblems } from '#shared/store/edge-binding.ts'
import { chatApplicationSettings } from './chat-application/settings.ts'
import { deliverySettings } from './delivery/settings.ts'
import { eventAlertSettings } from './events/settings.ts'
import { policySettings } from './policy/layers/environment.ts'
import { sweepSettings } from './sweeps/sweep-settings.ts'

/** Settings that the dispatcher reads. */
export const settings = {
  ...sweepSettings,
  ...policySettings,
  ...deliverySettings,
  ...displayZoneSettings,
  ...eventAlertSettings,
  ...subscriptionSettings,
  ...chatApplicationSettings,
  ...edgeBindingSettings,
} as const

/** Returns problems of settings that are valid on their own but not in combination. */
export const problems = (env: Environment): readonly SettingProblem[] =>
  areWebhookSubscriptionsEnabled(env) ? findUnsharedFileProblems(['CONVERSATIONS_EDGESQL'], env) : []
