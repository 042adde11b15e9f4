import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { connectionSessionHeader } from '#proto/http/connections.ts'
import { SealedConnection } from '#proto/sealed-connection.ts'
import { connectionKey, ownerOf } from './owner.ts'

/** The text that a browser keeps: an id and a name to read, and what only `query` opens, which it does for that id and name alone. */
export const sessionToken = (id: string, name: string, sealed: string): string =>
  `${id}.${Buffer.from(name).toString('base64url')}.${sealed}`

const tokenShape = /^(?<id>[\w-]{22})\.(?<name>[\w-]{1,600})\.(?<sealed>.+)$/

/** The connection that a request carries in its header, if any. Another caller's token becomes a key under which it does not open. */
export const sessionOf = (headers: IncomingHttpHeaders, identity: Identity): SealedConnection | undefined => {
  const given = headers[connectionSessionHeader]
  if (given === undefined) return undefined
  const { id = '', name = '', sealed } = tokenShape.exec(String(given))?.groups ?? {}
  const key = connectionKey(ownerOf(identity), id)
  const read = SealedConnection.safeParse({ key, name: Buffer.from(name, 'base64url').toString('utf8'), sealed })
  if (read.success) return read.data
  throw new ServiceError('invalid', `${connectionSessionHeader} must be the token of a connection session`, {
    details: { parameter: connectionSessionHeader },
  })
}
