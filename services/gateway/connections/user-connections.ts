import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { CallContext, Identity } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { userConnectionSettings } from '../features/config.ts'
import type { AccessPolicy } from '../features/policy.ts'

/** The saved connections of one caller. */
export interface CallerConnections {
  owner: string
  saved: SavedConnections
}

/** Access to saved connections, if the installation stores them. */
export interface UserConnections {
  /**
   * Returns the connections of a caller. Throws `not-implemented` with the missing setting, or `unauthenticated` for
   * callers who are not signed in.
   */
  of(call: CallContext): Promise<CallerConnections>
  /** Returns whether the caller may save connections. */
  canSave(call: CallContext): Promise<boolean>
  /** Like `of`, but returns undefined instead of throwing. */
  ifAny(call: CallContext): CallerConnections | undefined
  /** Removes all connections of a caller, even while the feature is off; returns their number. */
  removeAll(identity: Identity): Promise<number>
}

interface UserConnectionsDeps {
  env: Environment
  query: ServiceClient<typeof query>
  policy: () => AccessPolicy
  /** Undefined without a state database. */
  saved: SavedConnections | undefined
}

export const openUserConnections = ({ env, query, policy, saved }: UserConnectionsDeps): UserConnections => {
  const isOn = (): boolean => parseSettings(userConnectionSettings, env).SVC_FEATURE_USER_CONNECTIONS_DB
  /** Returns true for signed-in callers. If sign-in is disabled, true for all callers, who are then one owner. */
  const mayOwn = ({ identity: { kind } }: CallContext): boolean =>
    kind === 'user' || kind === 'key' || (kind === 'anonymous' && policy().anonymous === 'write')

  return {
    async of(call) {
      if (!isOn()) throw missing('SVC_FEATURE_USER_CONNECTIONS_DB')
      if (saved === undefined) throw missing('SVC_STATE_DB_URL or another state database')
      if (!(await query.keepsConnections({}, call))) throw missing('SVC_USER_CONNECTIONS_ENCRYPTION_KEY')
      if (!mayOwn(call)) throw new ServiceError('unauthenticated', 'sign in to save your own connections')
      return { owner: computeOwnerId(call.identity), saved }
    },
    canSave: async (call) => saved !== undefined && isOn() && mayOwn(call) && (await query.keepsConnections({}, call)),
    removeAll: async (identity) => (saved ? saved.removeAll(computeOwnerId(identity)) : 0),
    ifAny: (call) => (saved && isOn() && mayOwn(call) ? { owner: computeOwnerId(call.identity), saved } : undefined),
  }
}

const missing = (what: string): ServiceError =>
  new ServiceError('not-implemented', `saved connections are unavailable: ${what} is not set`)

/** Maximum number of connections per owner, so that a list needs no pages. */
export const maxConnectionsPerOwner = 50

/** A stored connection: the sealed part, which only `query` can decrypt, and the fields that its owner may see. */
const SavedConnection = z.object({
  id: z.string(),
  /** Number of the connection, which is never reused. The `hostId` is the negative number. */
  number: z.int(),
  name: z.string(),
  host: z.string(),
  sealed: z.string(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
})
export type SavedConnection = z.infer<typeof SavedConnection>
type NewConnection = Omit<SavedConnection, 'number'>

/** Connections in the state database. Every method requires the owner, so no caller can access those of another. */
export interface SavedConnections {
  list(owner: string): Promise<SavedConnection[]>
  byId(owner: string, id: string): Promise<SavedConnection | undefined>
  byNumber(owner: string, number: number): Promise<SavedConnection | undefined>
  /** Adds a connection; throws `conflict` when the owner already has `maxConnectionsPerOwner`. */
  add(owner: string, connection: NewConnection): Promise<SavedConnection>
  /** Returns the changed connection; undefined if it does not exist. */
  change(owner: string, id: string, changed: Partial<NewConnection>): Promise<SavedConnection | undefined>
  remove(owner: string, id: string): Promise<SavedConnection | undefined>
  /** Deletes all connections of the owner; returns their number. */
  removeAll(owner: string): Promise<number>
}

const OwnedConnection = SavedConnection.extend({ owner: z.string() })

const connections = defineCollection({
  name: 'watchhouse_user_connections',
  schema: OwnedConnection,
  columns: { owner: 'text', number: 'integer' },
  indexes: [['owner', 'number']],
  idOf: ({ id }) => id,
  valuesOf: (connection) => connection,
})

/** The last assigned number. It is kept when the connection is deleted, so that numbers are never reused. */
const numbers = defineCollection({
  name: 'watchhouse_user_connection_numbers',
  schema: z.object({ last: z.int() }),
  columns: {},
  idOf: () => 'last',
  valuesOf: () => ({}),
})

export const openSavedConnections = async (database: Database): Promise<SavedConnections> => {
  const collections = await openCollections('user-connections', [connections, numbers], database)
  const saved = collections.of(connections)
  const one = async (where: { owner: string; id?: string; number?: number }) => {
    const [connection] = await saved.list({ where, limit: 1 })
    return connection && withoutOwner(connection)
  }
  return {
    list: async (owner) => (await saved.list({ where: { owner }, orderBy: 'number' })).map(withoutOwner),
    byId: (owner, id) => one({ owner, id }),
    byNumber: (owner, number) => one({ owner, number }),
    add: (owner, added) =>
      collections.atomically(async (within) => {
        const { add, count } = within.of(connections)
        if ((await count({ owner })) >= maxConnectionsPerOwner)
          throw new ServiceError(
            'conflict',
            `too many connections: the maximum is ${maxConnectionsPerOwner}; delete one first`,
          )
        const { after } = await within.of(numbers).change('last', (present) => ({ last: (present?.last ?? 0) + 1 }))
        const connection = { ...added, number: after.last }
        await add([{ ...connection, owner }])
        return connection
      }, connections.name),
    async change(owner, id, changed) {
      const { after } = await saved.change(id, (present) =>
        present?.owner === owner ? { ...present, ...changed, id } : undefined,
      )
      return after && withoutOwner(after)
    },
    async remove(owner, id) {
      const connection = await one({ owner, id })
      return connection && (await saved.remove({ owner, id })) > 0 ? connection : undefined
    },
    removeAll: (owner) => saved.remove({ owner }),
  }
}

const withoutOwner = ({ owner: _owner, ...connection }: z.infer<typeof OwnedConnection>): SavedConnection => connection

const idBytes = 16
const ownerLength = 22

/** Returns the owner id of a caller. A user and an API key with the same subject are one owner. */
export const computeOwnerId = ({ kind, subject }: Identity): string => {
  const who = kind === 'user' || kind === 'key' ? 'person' : kind
  return hash('sha256', JSON.stringify([who, subject]), 'base64url').slice(0, ownerLength)
}

/** Returns a random, unguessable id. */
export const generateConnectionId = (): string => randomBytes(idBytes).toString('base64url')

/** Returns the key of a connection in caches, pools and queues. Keys of configured hosts never start with `user:`. */
export const formatConnectionKey = (owner: string, id: string): string => `user:${owner}:${id}`
