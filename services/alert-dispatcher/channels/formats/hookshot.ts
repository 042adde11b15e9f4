import type { WebhookFormat } from './format.ts'
import { renderHtml, renderPlainMessage } from './html.ts'

/** Format for generic webhooks of matrix-hookshot. */
export const hookshotFormat: WebhookFormat = {
  compose: (context) => ({
    body: {
      text: renderPlainMessage(context),
      html: renderHtml(context),
      username: 'Watchhouse',
      origin: context.message.origin,
    },
  }),
}
