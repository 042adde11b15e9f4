import { chatARig } from './chat-a.ts'
import { pushARig } from './push-a.ts'
import { pushBRig } from './push-b.ts'
import type { Rig } from './rig.ts'
import { webhookRig } from './webhook.ts'

/** One for each channel. */
export const rigs: readonly Rig[] = [webhookRig, chatARig, pushARig, pushBRig]
