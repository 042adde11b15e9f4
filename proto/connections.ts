import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey, HostStatus } from './host.ts'
import { ConnectionName, SealedConnection } from './sealed-connection.ts'
import { TransitPublicKey } from './encrypted-secrets.ts'

/** The address, user and password of a user connection. All of them are required. */
export const ExplicitConnectionTarget = z.strictObject({
  url: z.string().min(1, 'must not be empty').max(2_048, 'must not be longer than 2048 characters'),
  user: z.string().min(1, 'must not be empty').max(256, 'must not be longer than 256 characters'),
  password: z.string().max(1_024, 'must not be longer than 1024 characters'),
})
const { user, password } = ExplicitConnectionTarget.shape
/** A connection target as entered by a user. User and password have the defaults of ClickHouse. */
export const ConnectionTarget = ExplicitConnectionTarget.extend({
  user: user.default('default'),
  password: password.default(''),
})
export type ConnectionTarget = z.infer<typeof ConnectionTarget>

/** Maximum length of an encrypted target, for a target of maximum length with four bytes per character. */
const maxEncryptedLength = 20_000
/** Exactly one field is set: `encryptedTarget`, which only `query` can decrypt, or `target` from an earlier release. */
const targetFields = {
  target: ConnectionTarget.optional(),
  encryptedTarget: z.string().max(maxEncryptedLength).optional(),
  /** Whether the gateway received the request from a caller on its own machine. */
  isCallerLocal: z.boolean().optional(),
}

/**
 * Reasons why a connection test failed. `garbage`: the server is not ClickHouse. `statement`: the first statement failed
 * for another reason.
 */
export const connectionFailures = ['unreachable', 'timeout', 'refused', 'garbage', 'statement'] as const

/** The result of a connection test. */
export const ConnectionTest = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), ...HostStatus.omit({ clockSkewMs: true }).shape }),
  z.object({ ok: z.literal(false), reason: z.enum(connectionFailures), message: z.string() }),
])
export type ConnectionTest = z.infer<typeof ConnectionTest>

const gatewayMethodTraits = { callers: ['gateway'], guest: true } as const

/** Methods of `query` for user connections. */
export const connectionsMethods = {
  connectionKey: rpc({
    ...gatewayMethodTraits,
    doc: 'Returns the public key to encrypt a target as a compact JWE with ECDH-ES and A256GCM; only `query` can decrypt it.',
    safe: true,
    input: z.object({}),
    output: TransitPublicKey,
  }),
  testConnection: rpc({
    ...gatewayMethodTraits,
    doc: 'Connects to a user-supplied database and returns its identity. `invalid` for an address that is not allowed.',
    safe: true,
    input: z.object(targetFields),
    output: ConnectionTest,
  }),
  sealConnection: rpc({
    ...gatewayMethodTraits,
    doc: 'Seals a connection for a lifetime, or to be stored, which is `not-implemented` without an encryption key.',
    safe: true,
    input: z.object({
      key: HostKey,
      name: ConnectionName,
      ...targetFields,
      /** How long the sealed connection is valid, in milliseconds; null for a stored connection. */
      lifetimeMs: z.number().int().min(1).nullable(),
    }),
    /** `host` is the name and port without scheme, path or credentials. */
    output: z.object({ sealed: z.string(), host: z.string() }),
  }),
  renameConnection: rpc({
    ...gatewayMethodTraits,
    doc: 'Seals a stored connection again with another name and the current key.',
    safe: true,
    input: z.object({ connection: SealedConnection, name: ConnectionName }),
    output: z.object({ sealed: z.string() }),
  }),
  keepsConnections: rpc({
    ...gatewayMethodTraits,
    doc: 'Returns whether connections can be stored, which requires an encryption key.',
    safe: true,
    input: z.object({}),
    output: z.boolean(),
  }),
}
