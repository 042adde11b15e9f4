import { systemClock } from '../../time/clock.ts'
import { type Kysely, sql } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import type { Database } from './connection.ts'

/** One step forward of an owner's tables. It must leave them usable for the previous release, which still runs meanwhile. */
export interface Migration {
  /** Never changed once released: it says whether the step was made. */
  name: string
  /** An earlier step of the same owner, where this one takes away what releases without that step use: they refuse the tables then. */
  needs?: string
  up(tables: Kysely<unknown>): Promise<void>
}

const table = 'watchhouse_migrations'
const needsTable = 'watchhouse_migration_needs'

interface MigrationTables {
  [table]: { owner: string; name: string; applied_at: string }
  [needsTable]: { owner: string; name: string; needs: string }
}

/**
 * Brings the owner's tables to this release: makes the steps not made yet, in their order, all or none, one process at a time.
 * Steps that only a newer release knows are left alone; throws `conflict` where one of them needs what this release lacks.
 */
export const migrate = async (
  database: Database,
  owner: string,
  tables: readonly string[],
  steps: readonly Migration[],
): Promise<void> => {
  // Migrations name tables before any type could know them.
  const all = database.migrating<Record<string, unknown>>([table, needsTable, ...tables])
  await database.run(() =>
    all.transaction().execute(async (transaction) => {
      await takeTurn(database, transaction)
      // Under the same plugin the tables of the bookkeeping have the types that the line after it creates.
      const bookkeeping = transaction as unknown as Kysely<MigrationTables>
      await createBookkeeping(bookkeeping, database.prefix)
      await refuseNewer(bookkeeping, owner, steps)
      const made = await bookkeeping.selectFrom(table).select('name').where('owner', '=', owner).execute()
      const names = new Set(made.map(({ name }) => name))
      for (const step of steps.filter(({ name }) => !names.has(name))) {
        // A step changes tables that have no type yet.
        await step.up(transaction as unknown as Kysely<unknown>)
        await record(bookkeeping, owner, step)
      }
    }),
  )
}

const refuseNewer = async (bookkeeping: Kysely<MigrationTables>, owner: string, steps: readonly Migration[]) => {
  const known = new Set(steps.map(({ name }) => name))
  const needing = await bookkeeping.selectFrom(needsTable).selectAll().where('owner', '=', owner).execute()
  const newer = needing.find(({ name, needs }) => !known.has(name) && !known.has(needs))
  if (newer === undefined) return
  const step = `step "${newer.name}" of its tables of ${owner}`
  const sentence = `the state database was changed by a newer release in a way that this one cannot work with (${step})`
  throw new ServiceError('conflict', `${sentence}: start that release, or give this one the database as it was before`)
}

const record = async (bookkeeping: Kysely<MigrationTables>, owner: string, { name, needs }: Migration) => {
  await bookkeeping
    .insertInto(table)
    .values({ owner, name, applied_at: new Date(systemClock.now()).toISOString() })
    .execute()
  if (needs !== undefined) await bookkeeping.insertInto(needsTable).values({ owner, name, needs }).execute()
}

/** SQLite's write transaction is exclusive already; on PostgreSQL this takes a lock that ends with the transaction. */
const takeTurn = async (database: Database, transaction: Kysely<Record<string, unknown>>): Promise<void> => {
  if (database.kind === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtext(${database.prefix + table}))`.execute(transaction)
}

const createBookkeeping = async (bookkeeping: Kysely<MigrationTables>, prefix: string): Promise<void> => {
  const create = (name: keyof MigrationTables, what: string) =>
    bookkeeping.schema
      .createTable(name)
      .ifNotExists()
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn(what, 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint(`${prefix}${name}_key`, ['owner', 'name'])
      .execute()
  await create(table, 'applied_at')
  await create(needsTable, 'needs')
}
