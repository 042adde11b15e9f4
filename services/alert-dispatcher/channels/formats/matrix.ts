import type { Format } from './format.ts'
import { htmlOf, plainOf } from './html.ts'

/** A room of Matrix: the address names the room, `…/_matrix/client/v3/rooms/<room>`, and a header holds the access token. */
export const matrix: Format = {
  compose: (composing) => {
    const { message, address, key } = composing
    const url = new URL(address)
    const [room] = /^.*\/rooms\/[^/]+/.exec(address.pathname) ?? []
    if (room !== undefined) url.pathname = `${room}/send/m.room.message/${key}`
    return {
      // The same transaction again changes nothing.
      method: 'PUT',
      url: url.href,
      body: {
        msgtype: 'm.text',
        body: plainOf(composing),
        format: 'org.matrix.custom.html',
        formatted_body: htmlOf(composing),
        // Nobody is called by what stands in a text.
        'm.mentions': {},
        'watchhouse.origin': message.origin,
      },
    }
  },
}
