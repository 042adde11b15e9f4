import { deliverySettings } from './delivery/settings.ts'
import { eventAlertSettings } from './events/settings.ts'
import { policySettings } from './policy/layers/settings.ts'
import { sweepSettings } from './sweeps/sweep-settings.ts'

/** What the dispatcher obeys. */
export const settings = {
  ...sweepSettings,
  ...policySettings,
  ...deliverySettings,
  ...eventAlertSettings,
} as const
