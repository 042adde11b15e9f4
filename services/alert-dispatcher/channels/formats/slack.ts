import { escapeAngles } from '../../messages/text.ts'
import { buildChatBody, classifyChatResponse } from '../webhook.ts'
import type { Format } from './format.ts'

/** Format for Slack and compatible services, the same as that of the channel `webhook`. */
export const slack: Format = {
  compose: ({ message, address, write }) => ({
    body: buildChatBody(message, { address, written: write(escapeAngles) }),
  }),
  classify: classifyChatResponse,
}
