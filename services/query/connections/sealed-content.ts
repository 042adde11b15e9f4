import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { WholeConnectionTarget } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import type { SealedConnection } from '#proto/sealed-connection.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { sealKey } from '#shared/seal/config.ts'
import { open, seal } from '#shared/seal/seal.ts'
import { openTransit, type Transit } from '#shared/seal/transit.ts'
import { madeOnce } from '#shared/store/installation.ts'
import type { Store } from '#shared/store/store.ts'

/** What is inside: the connection, and until when it may be opened; null for one that is kept. */
const Content = z.object({ target: WholeConnectionTarget, expiresAtMs: z.number().nullable() })
type Content = z.infer<typeof Content>

type Called = Pick<SealedConnection, 'key' | 'name'>

/** Seals and opens connections. What is sealed for one key and name opens for no other. */
export interface Sealing {
  seal(content: Content, called: Called): Promise<string>
  /** Throws `invalid` for what was not sealed here, changed since, or sealed with a key that is gone. */
  open(connection: SealedConnection): Promise<Content>
}

/** The first word tells which key it is: sessions and kept connections have different ones. */
const session = 'session'
const kept = 'kept'

export const openSealing = (keys: Keys): Sealing => ({
  async seal(content, called) {
    const kind = content.expiresAtMs === null ? kept : session
    const key = kind === kept ? keys.kept() : await keys.ofSessions()
    if (key === undefined) throw cannotKeep()
    return `${kind}.${seal(JSON.stringify(content), aboutOf(kind, called), key)}`
  },
  async open({ sealed, ...called }) {
    const [kind = '', ...body] = sealed.split('.')
    const key = kind === kept ? keys.kept() : await keys.ofSessions()
    const text = key && open(body.join('.'), aboutOf(kind, called), key)
    if (text === undefined) throw unreadable(kind)
    return Content.parse(JSON.parse(text))
  },
})

const aboutOf = (kind: string, { key, name }: Called): string => JSON.stringify([kind, key, name])

const cannotKeep = (): ServiceError =>
  new ServiceError(
    'not-implemented',
    'connections cannot be kept: the operator has not set SVC_USER_CONNECTIONS_ENCRYPTION_KEY',
  )

/** What is marked as neither came from a caller, who holds sessions alone. */
const unreadable = (kind: string): ServiceError =>
  kind === kept
    ? new ServiceError('conflict', 'the kept connection cannot be decrypted with the present key; save it again', {
        details: { reason: 'connection-unreadable' },
      })
    : new ServiceError('invalid', 'the connection session is none of this installation; open a new one', {
        details: { reason: 'session-unknown' },
      })

const sessionKeyName = 'query:connection-session-key'
const sessionKeyBytes = 32
const transitKeyName = 'query:connection-transit-key'

/** What connections are sealed with. */
export interface Keys {
  /** Of connections that are kept; the operator's own, if there is one. */
  kept(): RotatingKey | undefined
  /** Of sessions: made here once and shared by all processes, so that sessions need no setting. */
  ofSessions(): Promise<RotatingKey>
  /** Of targets on their way here. */
  transit: Transit
}

export const openKeys = (env: Environment, store: Store): Keys => ({
  kept: () => sealKey(env),
  async ofSessions() {
    const make = async () => randomBytes(sessionKeyBytes).toString('base64url')
    return { current: await madeOnce(store, sessionKeyName, z.string(), make), previous: undefined }
  },
  transit: openTransit(store, transitKeyName),
})
