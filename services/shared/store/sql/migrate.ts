import { type Kysely, sql } from 'kysely'
import type { Database } from './connection.ts'

/** One step forward of an owner's tables. It must leave them usable for the previous release, which still runs meanwhile. */
export interface Migration {
  /** Never changed once released: it says whether the step was made. */
  name: string
  up(tables: Kysely<unknown>): Promise<void>
}

const table = 'watchhouse_migrations'

interface MigrationTables {
  [table]: { owner: string; name: string; applied_at: string }
}

/**
 * Brings the owner's tables to this release: makes the steps not made yet, in their order, all or none, one process at a time.
 * Steps that only a newer release knows are left alone.
 */
export const migrate = async (
  database: Database,
  owner: string,
  tables: readonly string[],
  steps: readonly Migration[],
): Promise<void> => {
  // Migrations name tables before any type could know them.
  const all = database.tables<Record<string, unknown>>([table, ...tables])
  await database.run(() =>
    all.transaction().execute(async (transaction) => {
      await takeTurn(database, transaction)
      // Under the same plugin the bookkeeping table has the type that the line above it creates.
      const bookkeeping = transaction as unknown as Kysely<MigrationTables>
      await createBookkeeping(bookkeeping, database.prefix)
      const made = await bookkeeping.selectFrom(table).select('name').where('owner', '=', owner).execute()
      const names = new Set(made.map(({ name }) => name))
      for (const step of steps.filter(({ name }) => !names.has(name))) {
        // A step changes tables that have no type yet.
        await step.up(transaction as unknown as Kysely<unknown>)
        await bookkeeping
          .insertInto(table)
          .values({ owner, name: step.name, applied_at: new Date().toISOString() })
          .execute()
      }
    }),
  )
}

/** SQLite's write transaction is alone already; PostgreSQL is asked for a lock that ends with the transaction. */
const takeTurn = async (database: Database, transaction: Kysely<Record<string, unknown>>): Promise<void> => {
  if (database.kind === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtext(${database.prefix + table}))`.execute(transaction)
}

const createBookkeeping = async (bookkeeping: Kysely<MigrationTables>, prefix: string): Promise<void> => {
  await bookkeeping.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${prefix}${table}_key`, ['owner', 'name'])
    .execute()
}
