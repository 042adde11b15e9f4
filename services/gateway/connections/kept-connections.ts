import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'

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
