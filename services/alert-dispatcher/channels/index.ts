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

/** Every way of telling people that operators set up. */
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

/** With those that people bring themselves. */
export const everyChannel: readonly Channel[] = [...channels, subscriptions]

/** The settings of all channels. */
export const channelSettings: Settings = Object.assign({}, ...channels.map(({ settings }) => settings))
