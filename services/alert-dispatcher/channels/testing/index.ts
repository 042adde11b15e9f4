import { chatARig } from './chat-a.ts'
import { pushARig } from './push-a.ts'
import { pushBRig } from './push-b.ts'
import type { Rig } from './rig.ts'
import { webhookRig } from './webhook.ts'
import { discordRig, hookshotRig, matrixRig, rawRig, slackRig, teamsRig } from './webhook-targets.ts'

const targetRigs = [rawRig, slackRig, matrixRig, hookshotRig, discordRig, teamsRig]

/** At least one for each channel. */
export const rigs: readonly Rig[] = [webhookRig, ...targetRigs, chatARig, pushARig, pushBRig]
