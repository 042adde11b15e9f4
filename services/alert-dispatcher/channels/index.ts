import type { Settings } from '#shared/config/setting.ts'
import type { Channel } from './channel.ts'
import { chatAChannel } from './chat-a.ts'
import { chatApplicationChannel } from './chat-application.ts'
import { emailChannel } from './email.ts'
import { pagingAChannel } from './paging-a.ts'
import { pagingBChannel } from './paging-b.ts'
import { pushAChannel } from './push-a.ts'
import { pushBChannel } from './push-b.ts'
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
  pagingAChannel,
  pagingBChannel,
  chatAChannel,
  pushAChannel,
  pushBChannel,
  smsChannel,
]

/** All channels, including user subscriptions. */
export const allChannels: readonly Channel[] = [...channels, subscriptionsChannel]

/** Settings of all channels. */
export const channelSettings: Settings = Object.assign({}, ...channels.map(({ settings }) => settings))
