import type { WebhookFormat } from './format.ts'
import { renderHtml, renderPlainMessage } from './html.ts'

/**
 * Format for Matrix. The URL names the room, `…/_matrix/client/v3/rooms/<room>`, and a header contains the access
 * token.
 */
export const matrixFormat: WebhookFormat = {
  compose: (context) => {
    const { message, address, key } = context
    const url = new URL(address)
    const [room] = /^.*\/rooms\/[^/]+/.exec(address.pathname) ?? []
    if (room !== undefined) url.pathname = `${room}/send/m.room.message/${key}`
    return {
      // The URL ends with a transaction id. Matrix ignores a request with a repeated one.
      method: 'PUT',
      url: url.href,
      body: {
        msgtype: 'm.text',
        body: renderPlainMessage(context),
        format: 'org.matrix.custom.html',
        formatted_body: renderHtml(context),
        // Prevents alert texts from mentioning users.
        'm.mentions': {},
        'watchhouse.origin': message.origin,
      },
    }
  },
}
