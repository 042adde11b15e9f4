import { escapeAngles } from '../../messages/text.ts'
import { chatBody, judgeChat } from '../webhook.ts'
import type { Format } from './format.ts'

/** As the channel `webhook` sends it. */
export const slack: Format = {
  compose: ({ message, address, write }) => ({ body: chatBody(message, { address, written: write(escapeAngles) }) }),
  judge: judgeChat,
}
