import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { ExplicitConnectionTarget } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import type { SealedConnection } from '#proto/sealed-connection.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { readSealKey } from '#shared/seal/config.ts'
import { unseal, seal } from '#shared/seal/seal.ts'
import { openTransitKeyPair, type TransitKeyPair } from '#shared/seal/transit.ts'
import { getOrCreateValue } from '#shared/store/installation.ts'
import type { Store } from '#shared/store/store.ts'

/**
 * A connection target with the end of its session; `expiresAtMs` is null for a saved connection. `isLocal`: it was
 * entered on this machine.
 */
const Content = z.object({
  target: ExplicitConnectionTarget,
  expiresAtMs: z.number().nullable(),
  isLocal: z.boolean().optional(),
})
type Content = z.infer<typeof Content>

type ConnectionIdentity = Pick<SealedConnection, 'key' | 'name'>

/** Encrypts and decrypts connections. Sealed text can only be decrypted with the same key and name. */
export interface ConnectionSealer {
  seal(content: Content, identity: ConnectionIdentity): Promise<string>
  /** Decrypts a connection. If that fails, throws `conflict` for a saved connection and `invalid` for a session. */
  open(connection: SealedConnection): Promise<Content>
}

// Sealed text begins with one of these words, which selects the encryption key.
const sessionKind = 'session'
const savedKind = 'kept'

export const openConnectionSealer = (keys: ConnectionKeys): ConnectionSealer => ({
  async seal(content, identity) {
    const kind = content.expiresAtMs === null ? savedKind : sessionKind
    const key = kind === savedKind ? keys.saved() : await keys.session()
    if (key === undefined) throw cannotSave()
    return `${kind}.${seal(JSON.stringify(content), associatedData(kind, identity), key)}`
  },
  async open({ sealed, ...identity }) {
    const [kind = '', ...body] = sealed.split('.')
    const key = kind === savedKind ? keys.saved() : await keys.session()
    const text = key && unseal(body.join('.'), associatedData(kind, identity), key)
    if (text === undefined) throw unreadable(kind)
    return Content.parse(JSON.parse(text))
  },
})

const associatedData = (kind: string, { key, name }: ConnectionIdentity): string => JSON.stringify([kind, key, name])

const cannotSave = (): ServiceError =>
  new ServiceError('not-implemented', 'connections cannot be saved: SVC_USER_CONNECTIONS_ENCRYPTION_KEY is not set')

/** Returns the error for unreadable text. An unknown kind counts as a session, because callers hold only sessions. */
const unreadable = (kind: string): ServiceError =>
  kind === savedKind
    ? new ServiceError('conflict', 'the saved connection cannot be decrypted with the current key; save it again', {
        details: { reason: 'connection-unreadable' },
      })
    : new ServiceError('invalid', 'the connection session belongs to another installation; open a new one', {
        details: { reason: 'session-unknown' },
      })

const sessionKeyName = 'query:connection-session-key'
const sessionKeyBytes = 32
const transitKeyName = 'query:connection-transit-key'

export interface ConnectionKeys {
  /** Returns the key of saved connections, or undefined when the operator has configured none. */
  saved(): RotatingKey | undefined
  /** Returns the key of sessions, which is generated once and shared through the store. */
  session(): Promise<RotatingKey>
  /** Decrypts targets that clients encrypt before they send them. */
  transit: TransitKeyPair
}

export const openConnectionKeys = (env: Environment, store: Store): ConnectionKeys => ({
  saved: () => readSealKey(env),
  async session() {
    const make = async () => randomBytes(sessionKeyBytes).toString('base64url')
    return { current: await getOrCreateValue(store, sessionKeyName, z.string(), make), previous: undefined }
  },
  transit: openTransitKeyPair(store, transitKeyName),
})
