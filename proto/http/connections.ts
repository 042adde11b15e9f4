import { z } from 'zod'
import { ConnectionTarget, ConnectionTest, WholeConnectionTarget } from '../connections.ts'
import { ConnectionName } from '../sealed-connection.ts'
import { answer } from './answer.ts'

/** `POST /api/v1/browser-connections/test` */
export const ConnectionTestRequest = ConnectionTarget
/** Its answer: a connection that does not work is a good answer, with the reason. */
export const ConnectionTestAnswer = answer(ConnectionTest, z.object({}))

/** `POST /api/v1/browser-connections/sessions`; without a name the session is called by its host. */
export const ConnectionSessionRequest = ConnectionTarget.extend({ name: ConnectionName.optional() })

/**
 * The header that carries the token of a session. A request with it sees one host instead of the configured ones: the session's,
 * as host 0. The metrics of all configured hosts and the tool server refuse it, and the health of the
 * installation is the same with it.
 */
export const connectionSessionHeader = 'x-connection-session'

/** Its answer. Nothing about the session is kept by the server; its credentials are sealed in the token. */
export const ConnectionSessionAnswer = answer(
  z.object({
    token: z.string(),
    header: z.literal(connectionSessionHeader),
    hostId: z.literal(0),
    name: z.string(),
    version: z.string(),
    expiresAt: z.iso.datetime(),
    lifetimeSeconds: z.int(),
  }),
  z.object({}),
)

/** A kept connection as its owner sees it; its user and password never leave the server. `hostId` is negative. */
export const UserConnection = z.object({
  id: z.string(),
  hostId: z.int(),
  name: z.string(),
  host: z.string(),
  source: z.literal('database'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type UserConnection = z.infer<typeof UserConnection>

/** `GET /api/v1/user-connections` */
export const UserConnectionsAnswer = answer(z.array(UserConnection), z.object({ count: z.int() }))
/** `POST /api/v1/user-connections` */
export const UserConnectionRequest = ConnectionTarget.extend({ name: ConnectionName })
/**
 * `PUT /api/v1/user-connections/{id}`: a new name alone, or everything anew. An address without its password would send the kept
 * one somewhere else.
 */
export const UserConnectionChange = WholeConnectionTarget.partial()
  .extend({ name: ConnectionName })
  .refine(
    (change) => new Set([change.url, change.user, change.password].map((part) => part === undefined)).size === 1,
    {
      path: ['url'],
      message: 'and user and password must be given together or not at all',
    },
  )
/** `POST`, `PUT` and `DELETE` answer with the connection as it is or was. */
export const UserConnectionAnswer = answer(UserConnection, z.object({}))
/** `{id}` of a kept connection. */
export const UserConnectionPath = z.object({ id: z.string().regex(/^[\w-]{22}$/, 'must be the id of a connection') })
