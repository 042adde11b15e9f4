import { z } from 'zod'
import { ConnectionTarget, ExplicitConnectionTarget } from '../connections.ts'
import { HostCheck, ManagedHostFields, ManagedHostId } from '../managed-hosts.ts'
import { createResponseSchema } from './response.ts'

/** Body of `POST /api/v1/hosts/check`. */
export const HostCheckRequest = ConnectionTarget
/** Response of `POST /api/v1/hosts/check`. A failed connection is a result with the reason, not an error. */
export const HostCheckResponse = createResponseSchema(HostCheck, z.object({}))

const { label, group, tags } = ManagedHostFields.shape
const described = {
  label,
  group: group.default(null),
  tags: tags.default([]),
  /** Saves the host even if it does not respond now. */
  saveUnreachable: z.boolean().default(false),
}

/** Body of `POST /api/v1/hosts`. */
export const HostRequest = ConnectionTarget.extend(described)
/**
 * Body of `PUT /api/v1/hosts/{id}`. A new address requires a user and a password, so that the stored password is never
 * sent to a different server.
 */
export const HostChangeRequest = ExplicitConnectionTarget.partial()
  .extend(described)
  .refine(
    (change) => new Set([change.url, change.user, change.password].map((part) => part === undefined)).size === 1,
    {
      path: ['url'],
      message: 'must be given together with user and password, or all three must be absent',
    },
  )

/** Response of `POST`, `PUT` and `DELETE` on `/api/v1/hosts`. `hostId` is null for a removed host. */
export const ManagedHostResponse = createResponseSchema(
  z.object({ id: z.string(), hostId: z.int().nullable(), label: z.string() }),
  z.object({}),
)
/** Path parameters of requests about one added host. */
export const ManagedHostPath = z.object({ id: ManagedHostId })
