import { escapeMarkup } from '../../messages/text.ts'
import { buildChatBody, classifyChatResponse } from '../webhook.ts'
import type { WebhookFormat } from './format.ts'

/** Format for Slack and compatible services, the same as that of the channel `webhook`. */
export const slackFormat: WebhookFormat = {
  compose: ({ message, address, write }) => ({
    body: buildChatBody(message, { address, written: write(escapeMarkup) }),
  }),
  classify: classifyChatResponse,
}
