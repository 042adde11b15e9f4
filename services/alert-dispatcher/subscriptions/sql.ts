import type { Kysely } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import { alone } from '#shared/store/sql/alone.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { Kept } from './subscription.ts'

/** Every notice is written down for each of them, so they stay few. */
export const mostPerOwner = 10
export const mostInAll = 500

/** Subscriptions in the edge SQL binding. Whatever is about one names its owner, so nobody reaches another's. */
export interface SubscriptionStore {
  /** Of everybody, to be sent to. */
  all(): Promise<Kept[]>
  of(owner: string): Promise<Kept[]>
  /** Throws `conflict` when there are as many as there may be. */
  add(kept: Kept): Promise<void>
  /** False when it is gone. */
  change(kept: Kept): Promise<boolean>
  remove(owner: string, id: string): Promise<boolean>
}

const table = 'watchhouse_webhook_subscriptions'

interface Tables {
  [table]: { id: string; owner: string; body: string }
}

export const sqlSubscriptions = async (database: Database): Promise<SubscriptionStore> => {
  await migrate(database, 'webhook-subscriptions', [table], [{ name: 'subscriptions', up: createTable(database) }])
  const tables = database.tables<Tables>([table])
  const every = tables.selectFrom(table).selectAll().orderBy('id')
  return {
    all: async () => (await database.run(() => every.execute())).flatMap(read),
    of: async (owner) => (await database.run(() => every.where('owner', '=', owner).execute())).flatMap(read),
    add: (kept) =>
      alone(database, tables, table, async (transaction) => {
        const owners = await transaction.selectFrom(table).select('owner').execute()
        if (owners.filter(({ owner }) => owner === kept.owner).length >= mostPerOwner)
          throw new ServiceError(
            'conflict',
            `there are ${mostPerOwner} subscriptions of yours already; remove one first`,
          )
        if (owners.length >= mostInAll)
          throw new ServiceError('conflict', 'there are as many subscriptions here as there may be')
        const { owner, id } = kept
        await transaction
          .insertInto(table)
          .values({ owner, id, body: JSON.stringify(kept) })
          .execute()
      }),
    async change(kept) {
      const changing = tables.updateTable(table).set({ body: JSON.stringify(kept) })
      const { numUpdatedRows } = await database.run(() =>
        changing.where('owner', '=', kept.owner).where('id', '=', kept.id).executeTakeFirst(),
      )
      return numUpdatedRows > 0n
    },
    async remove(owner, id) {
      const removing = tables.deleteFrom(table).where('owner', '=', owner).where('id', '=', id)
      return (await database.run(() => removing.executeTakeFirst())).numDeletedRows > 0n
    },
  }
}

/** What a newer release wrote otherwise is left alone. */
const read = ({ body }: Tables[typeof table]): Kept[] => {
  const { success, data } = Kept.safeParse(JSON.parse(body))
  return success ? [data] : []
}

const createTable =
  ({ prefix }: Database) =>
  async (tables: Kysely<unknown>): Promise<void> => {
    await tables.schema
      .createTable(table)
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .execute()
    await tables.schema.createIndex(`${prefix}${table}_owner`).on(table).column('owner').execute()
  }
