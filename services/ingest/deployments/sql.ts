import type { Kysely } from 'kysely'
import { Deployment, mostDeployments } from '#proto/deployments.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import type { Deployments } from './store.ts'

const table = 'watchhouse_deployments'

interface Tables {
  [table]: { id: string; at_ms: number; body: string }
}

/** Deployments in the state database, which every process of the service shares. */
export const sqlDeployments = async (database: Database, most = mostDeployments): Promise<Deployments> => {
  await migrate(database, 'deployments', [table], [{ name: 'deployments', up: createTable(database) }])
  const tables = database.tables<Tables>([table])
  const removeBefore = async (beforeMs: number): Promise<number> => {
    const removing = tables.deleteFrom(table).where('at_ms', '<', beforeMs)
    return Number((await database.run(() => removing.executeTakeFirst())).numDeletedRows)
  }
  const newest = tables.selectFrom(table).orderBy('at_ms', 'desc')
  return {
    async put(deployment) {
      const { id, atMs } = deployment
      // Two tellings of one deployment at the same moment may end in either order, which harms nobody.
      const known = await database.run(() => newest.select('at_ms').where('id', '=', id).executeTakeFirst())
      if (known && Number(known.at_ms) > atMs) return
      const row = { at_ms: atMs, body: JSON.stringify(deployment) }
      const putting = tables
        .insertInto(table)
        .values({ id, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      await database.run(() => putting.execute())
      const tooMany = newest
        .select('at_ms')
        .offset(most - 1)
        .limit(1)
      const oldest = await database.run(() => tooMany.executeTakeFirst())
      if (oldest) await removeBefore(Number(oldest.at_ms))
    },
    async list({ fromMs, toMs, limit }) {
      const wanted = newest.select('body').where('at_ms', '>=', fromMs).where('at_ms', '<', toMs).limit(limit)
      return (await database.run(() => wanted.execute())).map(({ body }) => Deployment.parse(JSON.parse(body)))
    },
    prune: removeBefore,
  }
}

const createTable =
  ({ prefix }: Database) =>
  async (tables: Kysely<unknown>): Promise<void> => {
    await tables.schema
      .createTable(table)
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .execute()
    await tables.schema.createIndex(`${prefix}${table}_at`).on(table).column('at_ms').execute()
  }
