import { wholeNumberSetting } from '#shared/config/setting.ts'
import { channelSettings } from '../channels/index.ts'
import { makeLenient } from '../lenient-settings.ts'
import { messageSettings } from '../messages/message-settings.ts'

/** Delivery settings with strict parsers, used to report invalid values. */
export const strictDeliverySettings = { ...messageSettings, ...channelSettings }

/** Settings of messages and channels. An invalid value counts as unset, which disables only its own channel. */
export const deliverySettings = {
  ...makeLenient(strictDeliverySettings),
  SVC_ALERT_DELIVERIES_DAYS: wholeNumberSetting(30, 'Retention of delivery records in days.', {
    min: 1,
    max: 3_650,
  }),
}
