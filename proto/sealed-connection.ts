import { z } from 'zod'
import { HostKey } from './host.ts'

/** What a connection is called by whoever brought it. */
export const ConnectionName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must not be longer than 100 characters')
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')

/** Longest sealed text: an address, a user and a password at their limits. */
export const longestSealed = 8_192

/**
 * A connection that a person brought, as it travels with a call: its address and credentials are sealed together with its key and
 * name, and only `query` can open them.
 */
export const SealedConnection = z.object({
  key: HostKey,
  name: ConnectionName,
  sealed: z.string().min(1).max(longestSealed),
})
export type SealedConnection = z.infer<typeof SealedConnection>

/** More than one call can need. */
export const maxConnectionsOfCall = 32
