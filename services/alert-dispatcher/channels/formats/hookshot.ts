import type { Format } from './format.ts'
import { htmlOf, plainOf } from './html.ts'

/** A generic webhook of matrix-hookshot. */
export const hookshot: Format = {
  compose: (composing) => ({
    body: {
      text: plainOf(composing),
      html: htmlOf(composing),
      username: 'Watchhouse',
      origin: composing.message.origin,
    },
  }),
}
