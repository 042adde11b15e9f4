import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey, HostStatus } from './host.ts'
import { ConnectionName, SealedConnection } from './sealed-connection.ts'
import { TransitPublicKey } from './transit.ts'

/** Where somebody's own database is, and who they are there, with nothing left to defaults. */
export const WholeConnectionTarget = z.strictObject({
  url: z.string().min(1, 'must not be empty').max(2_048, 'must not be longer than 2048 characters'),
  user: z.string().min(1, 'must not be empty').max(256, 'must not be longer than 256 characters'),
  password: z.string().max(1_024, 'must not be longer than 1024 characters'),
})
const { user, password } = WholeConnectionTarget.shape
/** The same as somebody gives it, with ClickHouse's own defaults. */
export const ConnectionTarget = WholeConnectionTarget.extend({
  user: user.default('default'),
  password: password.default(''),
})
export type ConnectionTarget = z.infer<typeof ConnectionTarget>

/** A target at its limits, of characters of four bytes each. */
const longestEncrypted = 20_000
/** One of the two: `encryptedTarget` shows nothing to whoever reads the bus, `target` is what earlier releases send. */
const ofTarget = {
  target: ConnectionTarget.optional(),
  encryptedTarget: z.string().max(longestEncrypted).optional(),
}

/** Why a connection did not work: the host's reasons, or its own answer to the first statement. */
export const connectionFailures = ['unreachable', 'timeout', 'refused', 'garbage', 'statement'] as const

/** What came of trying a connection. */
export const ConnectionTest = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), ...HostStatus.omit({ clockSkewMs: true }).shape }),
  z.object({ ok: z.literal(false), reason: z.enum(connectionFailures), message: z.string() }),
])
export type ConnectionTest = z.infer<typeof ConnectionTest>

const fromGateway = { callers: ['gateway'], guest: true } as const

/** Methods of `query` for databases that people bring themselves. */
export const connectionsMethods = {
  connectionKey: rpc({
    ...fromGateway,
    doc: 'The key to encrypt a target with, as a compact JWE by ECDH-ES and A256GCM; only `query` opens it.',
    safe: true,
    input: z.object({}),
    output: TransitPublicKey,
  }),
  testConnection: rpc({
    ...fromGateway,
    doc: 'Dials a database that a caller names and asks who it is. `invalid` for an address that may not be dialled.',
    safe: true,
    input: z.object(ofTarget),
    output: ConnectionTest,
  }),
  sealConnection: rpc({
    ...fromGateway,
    doc: 'Seals a connection: for its lifetime, or to be kept, which is `not-implemented` without an encryption key.',
    safe: true,
    input: z.object({
      key: HostKey,
      name: ConnectionName,
      ...ofTarget,
      /** Null for one that is kept. */
      lifetimeMs: z.number().int().min(1).nullable(),
    }),
    /** `host` is the name and port without scheme, path or credentials. */
    output: z.object({ sealed: z.string(), host: z.string() }),
  }),
  renameConnection: rpc({
    ...fromGateway,
    doc: 'Seals a kept connection under another name, with the current key.',
    safe: true,
    input: z.object({ connection: SealedConnection, name: ConnectionName }),
    output: z.object({ sealed: z.string() }),
  }),
  keepsConnections: rpc({
    ...fromGateway,
    doc: 'Whether connections can be kept: there is an encryption key.',
    safe: true,
    input: z.object({}),
    output: z.boolean(),
  }),
}
