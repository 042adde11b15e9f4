import { z } from 'zod'
import { ConnectionTarget, ConnectionTest, ExplicitConnectionTarget } from '../connections.ts'
import { ConnectionName } from '../sealed-connection.ts'
import { createResponseSchema } from './response.ts'

/** Body of `POST /api/v1/browser-connections/test`. */
export const ConnectionTestRequest = ConnectionTarget
/**
 * Response of `POST /api/v1/browser-connections/test`. A failed connection is a result with the reason, not an error.
 */
export const ConnectionTestResponse = createResponseSchema(ConnectionTest, z.object({}))

/** Body of `POST /api/v1/browser-connections/sessions`; the name defaults to the host name. */
export const ConnectionSessionRequest = ConnectionTarget.extend({ name: ConnectionName.optional() })

/**
 * The header with the token of a session. A request with this header sees only the host of the session, as host 0.
 * `GET /api/v1/metrics` and the MCP endpoint reject the header; `GET /api/healthz` ignores it.
 */
export const connectionSessionHeader = 'x-connection-session'

/**
 * Response of `POST /api/v1/browser-connections/sessions`. The server does not store the session; the token contains
 * its encrypted credentials.
 */
export const ConnectionSessionResponse = createResponseSchema(
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

/** A stored connection as its owner sees it. Its user and password never leave the server. `hostId` is negative. */
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

/** Response of `GET /api/v1/user-connections`. */
export const UserConnectionsResponse = createResponseSchema(z.array(UserConnection), z.object({ count: z.int() }))
/** Body of `POST /api/v1/user-connections`. */
export const UserConnectionRequest = ConnectionTarget.extend({ name: ConnectionName })
/**
 * Body of `PUT /api/v1/user-connections/{id}`: only a new name, or all fields. A new address requires a password, so
 * that the stored password is never sent to a different server.
 */
export const UserConnectionChange = ExplicitConnectionTarget.partial()
  .extend({ name: ConnectionName })
  .refine(
    (change) => new Set([change.url, change.user, change.password].map((part) => part === undefined)).size === 1,
    {
      path: ['url'],
      message: 'must be given together with user and password, or all three must be absent',
    },
  )
/** Response of `POST`, `PUT` and `DELETE` on `/api/v1/user-connections`: the current or deleted connection. */
export const UserConnectionResponse = createResponseSchema(UserConnection, z.object({}))
/** Path parameters of requests about one stored connection. */
export const UserConnectionPath = z.object({ id: z.string().regex(/^[\w-]{22}$/, 'must be the id of a connection') })
