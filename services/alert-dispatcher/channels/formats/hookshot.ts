import { plainText } from '../../delivery/message.ts'
import type { Format } from './format.ts'
import { htmlOf, plainOf } from './html.ts'

const maxPlain = 4_000

/** A generic webhook of matrix-hookshot. */
export const hookshot: Format = {
  compose: (composing) => ({
    body: {
      text: plainOf(composing, plainText(composing.message, maxPlain)),
      html: htmlOf(composing),
      username: 'Watchhouse',
      origin: composing.message.origin,
    },
  }),
}
