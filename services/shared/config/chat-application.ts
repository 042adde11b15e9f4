import type { Environment } from './environment.ts'
import { read, signingKey } from './setting.ts'

/** What lets the chat application in: its messages have buttons where it is set, and the door opens to their clicks. */
export const chatApplicationSigning = {
  CHATAPP_SIGNING_SECRET: signingKey(
    'Signing secret of the chat application (Slack): alerts in its chats get buttons that acknowledge or dismiss, and their signed clicks are taken at /api/webhooks/chat-application.',
  ),
} as const

/** Whether clicks in chats can be told from what others send. */
export const takesChatActions = (env: Environment): boolean =>
  read(chatApplicationSigning, env).CHATAPP_SIGNING_SECRET !== undefined
