import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { connectionSessionHeader } from '#proto/http/connections.ts'
import { SealedConnection } from '#proto/sealed-connection.ts'
import { connectionKey, ownerOf } from './owner.ts'

const longestHost = 300

/** A session as its token tells it. */
const Session = SealedConnection.extend({
  /** Host name and port; shown to whoever brings the token, and decides nothing. */
  host: z
    .string()
    .max(longestHost)
    .regex(/^\P{Cc}+$/u),
})
export type Session = z.infer<typeof Session>

/**
 * The text that a browser keeps: an id, a name and an address to read, and what only `query` opens, which it does for that id and
 * name alone.
 */
export const sessionToken = (id: string, { name, host, sealed }: Omit<Session, 'key'>): string =>
  [id, encoded(name), encoded(host), sealed].join('.')

const encoded = (text: string): string => Buffer.from(text).toString('base64url')

const tokenShape = /^(?<id>[\w-]{22})\.(?<name>[\w-]{1,600})\.(?<host>[\w-]{1,400})\.(?<sealed>.+)$/

/** The session that a request carries in its header, if any. Another caller's token becomes a key under which it does not open. */
export const sessionOf = (headers: IncomingHttpHeaders, identity: Identity): Session | undefined => {
  const given = headers[connectionSessionHeader]
  if (given === undefined) return undefined
  const { id = '', name = '', host = '', sealed } = tokenShape.exec(String(given))?.groups ?? {}
  const key = connectionKey(ownerOf(identity), id)
  const read = Session.safeParse({ key, name: decoded(name), host: decoded(host), sealed })
  if (read.success) return read.data
  throw refused('must be the token of a connection session')
}

const decoded = (text: string): string => Buffer.from(text, 'base64url').toString('utf8')

/** For routes that tell of the configured hosts alone: nobody shall take theirs for the one that was brought. */
export const refuseSession = (headers: IncomingHttpHeaders): void => {
  if (headers[connectionSessionHeader] !== undefined) {
    throw refused('must be left out here, where only the configured hosts are told of')
  }
}

const refused = (why: string): ServiceError =>
  new ServiceError('invalid', `${connectionSessionHeader} ${why}`, { details: { parameter: connectionSessionHeader } })
