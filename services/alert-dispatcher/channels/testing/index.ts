import type { Rig } from './rig.ts'
import { webhookRig } from './webhook.ts'

/** One for each channel. */
export const rigs: readonly Rig[] = [webhookRig]
