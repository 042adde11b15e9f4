import { escapeAngles } from '../../messages/text.ts'
import { buildChatBody, classifyChatResponse } from '../webhook.ts'
import type { Format } from './format.ts'

/** The format of the channel `webhook`. */
export const slack: Format = {
  compose: ({ message, address, write }) => ({
    body: buildChatBody(message, { address, written: write(escapeAngles) }),
  }),
  classify: classifyChatResponse,
}
