import type { WebhookFormat } from './format.ts'
import { renderHtml, renderPlain } from './html.ts'

/** Format for generic webhooks of matrix-hookshot. */
export const hookshotFormat: WebhookFormat = {
  compose: (context) => ({
    body: {
      text: renderPlain(context),
      html: renderHtml(context),
      username: 'Watchhouse',
      origin: context.message.origin,
    },
  }),
}
