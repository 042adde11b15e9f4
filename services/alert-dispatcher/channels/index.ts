import type { Settings } from '#shared/config/setting.ts'
import type { Channel } from './channel.ts'
import { chatA } from './chat-a.ts'
import { chatApplication } from './chat-application.ts'
import { email } from './email.ts'
import { pagingA } from './paging-a.ts'
import { pagingB } from './paging-b.ts'
import { pushA } from './push-a.ts'
import { pushB } from './push-b.ts'
import { sms } from './sms.ts'
import { subscriptions } from './subscriptions.ts'
import { webhook } from './webhook.ts'
import { webhookTargets } from './webhook-targets.ts'

/** All notification channels that operators configure. */
export const channels: readonly Channel[] = [
  webhook,
  webhookTargets,
  chatApplication,
  email,
  pagingA,
  pagingB,
  chatA,
  pushA,
  pushB,
  sms,
]

/** All channels, including user subscriptions. */
export const allChannels: readonly Channel[] = [...channels, subscriptions]

/** Settings of all channels. */
export const channelSettings: Settings = Object.assign({}, ...channels.map(({ settings }) => settings))
