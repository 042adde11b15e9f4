import type { Format } from './format.ts'
import { renderHtml, renderPlain } from './html.ts'

/** Format for generic webhooks of matrix-hookshot. */
export const hookshot: Format = {
  compose: (context) => ({
    body: {
      text: renderPlain(context),
      html: renderHtml(context),
      username: 'Watchhouse',
      origin: context.message.origin,
    },
  }),
}
