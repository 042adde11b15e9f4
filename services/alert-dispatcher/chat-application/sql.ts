import { ServiceError } from '#proto/errors.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { Kept } from './installation.ts'

/** Every notice is written down for each of them, so they stay few. */
export const mostInstallations = 20

/** Where the chat application is installed, in the state database. */
export interface Installations {
  all(): Promise<Kept[]>
  /** In place of what there was for the same chat; throws `conflict` when there are as many others as there may be. */
  put(kept: Kept): Promise<void>
  remove(id: string): Promise<void>
}

const table = 'watchhouse_chat_installations'

interface Tables {
  [table]: { id: string; body: string }
}

export const sqlInstallations = async (database: Database): Promise<Installations> => {
  await migrate(
    database,
    'chat-application',
    [table],
    [
      {
        name: 'installations',
        up: (tables) =>
          tables.schema
            .createTable(table)
            .addColumn('id', 'text', (column) => column.primaryKey())
            .addColumn('body', 'text', (column) => column.notNull())
            .execute(),
      },
    ],
  )
  const tables = database.tables<Tables>([table])
  const every = tables.selectFrom(table).selectAll().orderBy('id')
  const all = async () => (await database.run(() => every.execute())).flatMap(read)
  return {
    all,
    async put(kept) {
      const others = (await all()).filter(({ id }) => id !== kept.id)
      if (others.length >= mostInstallations)
        throw new ServiceError(
          'conflict',
          `the chat application has ${mostInstallations} chats already; remove one first`,
        )
      const body = JSON.stringify(kept)
      const putting = tables
        .insertInto(table)
        .values({ id: kept.id, body })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ body }))
      await database.run(() => putting.execute())
    },
    async remove(id) {
      await database.run(() => tables.deleteFrom(table).where('id', '=', id).execute())
    },
  }
}

/** What a newer release wrote otherwise is left alone. */
const read = ({ body }: Tables[typeof table]): Kept[] => {
  const { success, data } = Kept.safeParse(JSON.parse(body))
  return success ? [data] : []
}
