import type { Generated, Kysely } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import { alone } from '#shared/store/sql/alone.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'

/** Connections of one owner; each is dialled rarely, and lists stay short enough to show whole. */
export const maxPerOwner = 50

/** A connection as it is kept: what only `query` can open, and what its owner may see. */
export interface KeptConnection {
  id: string
  /** Never used twice; its negative is the `hostId`. */
  number: number
  name: string
  host: string
  sealed: string
  createdAtMs: number
  updatedAtMs: number
}
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

const table = 'watchhouse_user_connections'

interface Tables {
  [table]: {
    number: Generated<number>
    id: string
    owner: string
    name: string
    host: string
    sealed: string
    created_at_ms: number
    updated_at_ms: number
  }
}

export const openKeptConnections = async (database: Database): Promise<KeptConnections> => {
  const { kind, prefix } = database
  await migrate(database, 'user-connections', [table], [{ name: 'user connections', up: createTable(kind, prefix) }])
  const tables = database.tables<Tables>([table])
  const of = (owner: string) => tables.selectFrom(table).selectAll().where('owner', '=', owner)
  const first = async (found: Promise<Row | undefined>) => {
    const row = await database.run(() => found)
    return row && connectionOf(row)
  }

  return {
    list: async (owner) => (await database.run(() => of(owner).orderBy('number').execute())).map(connectionOf),
    byId: (owner, id) => first(of(owner).where('id', '=', id).executeTakeFirst()),
    byNumber: (owner, number) => first(of(owner).where('number', '=', number).executeTakeFirst()),
    add: (owner, connection) =>
      alone(database, tables, table + owner, (transaction) => add(transaction, owner, connection)),
    change: (owner, id, { name, host, sealed, updatedAtMs }) =>
      first(
        tables
          .updateTable(table)
          .set({ name, host, sealed, updated_at_ms: updatedAtMs })
          .where('owner', '=', owner)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst(),
      ),
    remove: (owner, id) =>
      first(tables.deleteFrom(table).where('owner', '=', owner).where('id', '=', id).returningAll().executeTakeFirst()),
    removeAll: async (owner) => {
      const removing = tables.deleteFrom(table).where('owner', '=', owner)
      return Number((await database.run(() => removing.executeTakeFirst())).numDeletedRows)
    },
  }
}

const add = async (tables: Kysely<Tables>, owner: string, written: Written) => {
  const { count } = await tables
    .selectFrom(table)
    .select((select) => select.fn.countAll().as('count'))
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow()
  if (Number(count) >= maxPerOwner) {
    throw new ServiceError('conflict', `there are ${maxPerOwner} connections already; remove one first`)
  }
  const { id, name, host, sealed, createdAtMs: created_at_ms, updatedAtMs: updated_at_ms } = written
  const row = { id, owner, name, host, sealed, created_at_ms, updated_at_ms }
  return connectionOf(await tables.insertInto(table).values(row).returningAll().executeTakeFirstOrThrow())
}

type Row = Omit<Tables[typeof table], 'number'> & { number: number }

/** PostgreSQL gives 64-bit integers as text. */
const connectionOf = ({ id, number, name, host, sealed, created_at_ms, updated_at_ms }: Row): KeptConnection => ({
  id,
  number: Number(number),
  name,
  host,
  sealed,
  createdAtMs: Number(created_at_ms),
  updatedAtMs: Number(updated_at_ms),
})

const createTable = (kind: Database['kind'], prefix: string) => async (tables: Kysely<unknown>) => {
  await tables.schema
    .createTable(table)
    // SQLite reuses the numbers of deleted rows unless told not to.
    .addColumn('number', kind === 'postgres' ? 'bigserial' : 'integer', (column) =>
      kind === 'postgres' ? column.primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  await tables.schema.createIndex(`${prefix}${table}_owner`).on(table).columns(['owner', 'number']).execute()
}
