import { z } from 'zod'
import { HostKey } from './host.ts'

/** The name that the user gave to a connection. */
export const ConnectionName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must not be longer than 100 characters')
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')

/** Maximum length of `sealed` in characters. It allows an address, a user and a password of maximum length. */
export const maxSealedLength = 8_192

/**
 * A user connection as it is sent with a call. Its address and credentials are encrypted together with its key and
 * name, and only `query` can decrypt them.
 */
export const SealedConnection = z.object({
  key: HostKey,
  name: ConnectionName,
  sealed: z.string().min(1).max(maxSealedLength),
})
export type SealedConnection = z.infer<typeof SealedConnection>

/** Maximum connections per call. */
export const maxConnectionsPerCall = 32
