import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Call, Identity } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { userConnectionSettings } from '../features/config.ts'
import type { Policy } from '../features/policy.ts'

/** A caller's own connections. */
export interface OwnConnections {
  owner: string
  kept: KeptConnections
}

/** Connections that people keep, where the installation keeps any. */
export interface UserConnections {
  /** Those of a caller; throws `not-implemented` naming what is missing, and `unauthenticated` for somebody unknown. */
  of(call: Call): Promise<OwnConnections>
  /** Whether the caller may keep any. */
  areKept(call: Call): Promise<boolean>
  /** The same as `of` where it is no failure that there are none. */
  ifAny(call: Call): OwnConnections | undefined
  /** Removes all that somebody keeps, whether or not any may be kept now; says how many. */
  forget(identity: Identity): Promise<number>
}

interface Place {
  env: Environment
  query: Client<typeof query>
  policy: () => Policy
  /** Undefined without a state database. */
  kept: KeptConnections | undefined
}

export const openUserConnections = ({ env, query, policy, kept }: Place): UserConnections => {
  const isOn = (): boolean => read(userConnectionSettings, env).SVC_FEATURE_USER_CONNECTIONS_DB
  /** Where nobody can sign in all callers are one owner; where they can, only those have connections who did. */
  const mayOwn = ({ identity: { kind } }: Call): boolean =>
    kind === 'user' || kind === 'key' || (kind === 'anonymous' && policy().anonymous === 'write')

  return {
    async of(call) {
      if (!isOn()) throw missing('SVC_FEATURE_USER_CONNECTIONS_DB')
      if (kept === undefined) throw missing('a state database, such as SVC_STATE_DB_URL')
      if (!(await query.keepsConnections({}, call))) throw missing('SVC_USER_CONNECTIONS_ENCRYPTION_KEY')
      if (!mayOwn(call)) throw new ServiceError('unauthenticated', 'sign in to keep connections of your own')
      return { owner: ownerOf(call.identity), kept }
    },
    areKept: async (call) => kept !== undefined && isOn() && mayOwn(call) && (await query.keepsConnections({}, call)),
    forget: async (identity) => (kept ? kept.removeAll(ownerOf(identity)) : 0),
    ifAny: (call) => (kept && isOn() && mayOwn(call) ? { owner: ownerOf(call.identity), kept } : undefined),
  }
}

const missing = (what: string): ServiceError =>
  new ServiceError('not-implemented', `no connections are kept here: the operator has not set ${what}`)

/** Connections of one owner; each is dialled rarely, and lists stay short enough to show whole. */
export const maxPerOwner = 50

/** A connection as it is kept: what only `query` can open, and what its owner may see. */
const KeptConnection = z.object({
  id: z.string(),
  /** Never used twice; its negative is the `hostId`. */
  number: z.int(),
  name: z.string(),
  host: z.string(),
  sealed: z.string(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
})
export type KeptConnection = z.infer<typeof KeptConnection>
type Written = Omit<KeptConnection, 'number'>

/** Connections in the state database. Every question names the owner, so nobody reaches another's. */
export interface KeptConnections {
  list(owner: string): Promise<KeptConnection[]>
  byId(owner: string, id: string): Promise<KeptConnection | undefined>
  byNumber(owner: string, number: number): Promise<KeptConnection | undefined>
  /** Throws `conflict` when the owner has as many as one may have. */
  add(owner: string, connection: Written): Promise<KeptConnection>
  /** Undefined when it is gone. */
  change(owner: string, id: string, changed: Partial<Written>): Promise<KeptConnection | undefined>
  remove(owner: string, id: string): Promise<KeptConnection | undefined>
  /** Says how many there were. */
  removeAll(owner: string): Promise<number>
}

const OwnedConnection = KeptConnection.extend({ owner: z.string() })

const connections = defineCollection({
  name: 'watchhouse_user_connections',
  schema: OwnedConnection,
  columns: { owner: 'text', number: 'integer' },
  indexes: [['owner', 'number']],
  idOf: ({ id }) => id,
  valuesOf: (connection) => connection,
})

/** The last number that was given, which stays when its connection goes. */
const numbers = defineCollection({
  name: 'watchhouse_user_connection_numbers',
  schema: z.object({ last: z.int() }),
  columns: {},
  idOf: () => 'last',
  valuesOf: () => ({}),
})

export const openKeptConnections = async (database: Database): Promise<KeptConnections> => {
  const collections = await openCollections('user-connections', [connections, numbers], database)
  const kept = collections.of(connections)
  const one = async (where: { owner: string; id?: string; number?: number }) => {
    const [connection] = await kept.list({ where, limit: 1 })
    return connection && shown(connection)
  }
  return {
    list: async (owner) => (await kept.list({ where: { owner }, orderBy: 'number' })).map(shown),
    byId: (owner, id) => one({ owner, id }),
    byNumber: (owner, number) => one({ owner, number }),
    add: (owner, written) =>
      collections.atomically(async (within) => {
        const { add, count } = within.of(connections)
        if ((await count({ owner })) >= maxPerOwner)
          throw new ServiceError('conflict', `there are ${maxPerOwner} connections already; remove one first`)
        const { after } = await within.of(numbers).change('last', (present) => ({ last: (present?.last ?? 0) + 1 }))
        const connection = { ...written, number: after.last }
        await add([{ ...connection, owner }])
        return connection
      }, connections.name),
    async change(owner, id, changed) {
      const { after } = await kept.change(id, (present) =>
        present?.owner === owner ? { ...present, ...changed, id } : undefined,
      )
      return after && shown(after)
    },
    async remove(owner, id) {
      const connection = await one({ owner, id })
      return connection && (await kept.remove({ owner, id })) > 0 ? connection : undefined
    },
    removeAll: (owner) => kept.remove({ owner }),
  }
}

const shown = ({ owner: _owner, ...connection }: z.infer<typeof OwnedConnection>): KeptConnection => connection

const idBytes = 16
const ownerLength = 22

/** Whose connections they are. People own the same ones whether they come with a session or with a key. */
export const ownerOf = ({ kind, subject }: Identity): string => {
  const who = kind === 'user' || kind === 'key' ? 'person' : kind
  return hash('sha256', JSON.stringify([who, subject]), 'base64url').slice(0, ownerLength)
}

/** Nobody guesses it, and it is never used again. */
export const newConnectionId = (): string => randomBytes(idBytes).toString('base64url')

/** What every cache, pool and queue knows a connection by; keys of configured hosts never begin so. */
export const connectionKey = (owner: string, id: string): string => `user:${owner}:${id}`
