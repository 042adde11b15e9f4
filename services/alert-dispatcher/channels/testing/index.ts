import { chatARig } from './chat-a.ts'
import { chatApplicationRig } from './chat-application.ts'
import { emailRigs } from './email.ts'
import { pagingARig } from './paging-a.ts'
import { pagingBRig } from './paging-b.ts'
import { pushARig } from './push-a.ts'
import { pushBRig } from './push-b.ts'
import type { ChannelRig } from './channel-rig.ts'
import { smsRig } from './sms.ts'
import { webhookRig } from './webhook.ts'
import { discordRig, googleChatRig, hookshotRig, matrixRig, rawRig, slackRig, teamsRig } from './webhook-targets.ts'

const targetRigs = [rawRig, slackRig, matrixRig, hookshotRig, discordRig, teamsRig, googleChatRig]

/** At least one rig for each channel. */
export const channelRigs: readonly ChannelRig[] = [
  webhookRig,
  ...targetRigs,
  ...emailRigs,
  pagingARig,
  pagingBRig,
  chatARig,
  chatApplicationRig,
  pushARig,
  pushBRig,
  smsRig,
]
