import { whole } from '#shared/config/setting.ts'
import { channelSettings } from '../channels/index.ts'
import { forgiving } from '../forgiving-settings.ts'
import { messageSettings } from '../messages/message-settings.ts'

/** As they must be written. */
export const strictDeliverySettings = { ...messageSettings, ...channelSettings }

/** What stands in messages and where they go. A text that cannot be meant counts as unset: its channel is off, the others go on. */
export const deliverySettings = {
  ...forgiving(strictDeliverySettings),
  SVC_ALERT_DELIVERIES_DAYS: whole(30, 'Age in days at which it is forgotten how alerts were delivered.', {
    min: 1,
    max: 3_650,
  }),
}
