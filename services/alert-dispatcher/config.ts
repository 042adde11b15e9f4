import { deliverySettings } from './delivery/settings.ts'
import { eventAlertSettings } from './events/settings.ts'
import { policySettings } from './layers/settings.ts'
import { sweepSettings } from './sweep-settings.ts'

/** What the dispatcher obeys. */
export const settings = {
  ...sweepSettings,
  ...policySettings,
  ...deliverySettings,
  ...eventAlertSettings,
} as const
