import type { Settings } from '#shared/config/setting.ts'
import type { Channel } from './channel.ts'
import { telegramChannel } from './telegram.ts'
import { chatApplicationChannel } from './chat-application.ts'
import { emailChannel } from './email.ts'
import { pagerDutyChannel } from './pagerduty.ts'
import { opsgenieChannel } from './opsgenie.ts'
import { ntfyChannel } from './ntfy.ts'
import { pushoverChannel } from './pushover.ts'
import { smsChannel } from './sms.ts'
import { subscriptionsChannel } from './subscriptions.ts'
import { webhookChannel } from './webhook.ts'
import { webhookTargetsChannel } from './webhook-targets.ts'

/** All notification channels that operators configure. */
export const channels: readonly Channel[] = [
  webhookChannel,
  webhookTargetsChannel,
  chatApplicationChannel,
  emailChannel,
  pagerDutyChannel,
  opsgenieChannel,
  telegramChannel,
  ntfyChannel,
  pushoverChannel,
  smsChannel,
]

/** All channels, including user subscriptions. */
export const allChannels: readonly Channel[] = [...channels, subscriptionsChannel]

/** Settings of all channels. */
export const channelSettings: Settings = Object.assign({}, ...channels.map(({ settings }) => settings))
