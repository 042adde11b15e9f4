import { telegramRig } from './telegram.ts'
import { chatApplicationRig } from './chat-application.ts'
import { emailRigs } from './email.ts'
import { pagerDutyRig } from './pagerduty.ts'
import { opsgenieRig } from './opsgenie.ts'
import { ntfyRig } from './ntfy.ts'
import { pushoverRig } from './pushover.ts'
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
  pagerDutyRig,
  opsgenieRig,
  telegramRig,
  chatApplicationRig,
  ntfyRig,
  pushoverRig,
  smsRig,
]
