import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../time/clock.ts'
import { type Kysely, sql } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import type { Database } from './connection.ts'

/**
 * A migration step for the tables of one owner. The previous release still runs during an update, so it must work with
 * the migrated tables.
 */
export interface Migration {
  /** Identifies the step in the database; must not change after its release. */
  name: string
  /**
   * The name of an earlier step, required for a step that removes something. A release that lacks the earlier step does
   * not start on the migrated tables.
   */
  needs?: string
  up(tables: Kysely<unknown>): Promise<void>
}

/** The table of the applied steps; the name has the prefix of the installation. */
export const migrationsTable = 'watchhouse_migrations'
const needsTable = 'watchhouse_migration_needs'

interface MigrationTables {
  [migrationsTable]: { owner: string; name: string; applied_at: string }
  [needsTable]: { owner: string; name: string; needs: string }
}

/** How long to wait while other processes migrate an SQLite file, which takes seconds on a slow disk. */
const maxLockedMs = 30_000
const lockedPauseMs = 100

/**
 * Applies the pending steps of the owner in order, in one transaction, by one process at a time. Ignores steps of newer
 * releases, but throws `conflict` if one of them needs a step that this release lacks. Throws `busy` if other processes
 * lock an SQLite file for 30 s.
 */
export const migrate = async (
  database: Database,
  owner: string,
  tables: readonly string[],
  steps: readonly Migration[],
): Promise<void> => {
  const until = performance.now() + maxLockedMs
  for (;;) {
    try {
      return await applyPendingSteps(database, owner, tables, steps)
    } catch (error) {
      const isLocked = error instanceof ServiceError && error.code === 'busy'
      if (!isLocked || performance.now() > until) throw error
      await wait(lockedPauseMs)
    }
  }
}

const applyPendingSteps = async (
  database: Database,
  owner: string,
  tables: readonly string[],
  steps: readonly Migration[],
): Promise<void> => {
  // The tables of migrations have no static type.
  const all = database.migrating<Record<string, unknown>>([migrationsTable, needsTable, ...tables])
  await database.run(() =>
    all.transaction().execute(async (transaction) => {
      await lockMigrations(database, transaction)
      // `createBookkeeping` creates the tables with these types.
      const bookkeeping = transaction as unknown as Kysely<MigrationTables>
      await createBookkeeping(bookkeeping, database.prefix)
      await rejectNewer(bookkeeping, owner, steps)
      const applied = await bookkeeping.selectFrom(migrationsTable).select('name').where('owner', '=', owner).execute()
      const names = new Set(applied.map(({ name }) => name))
      for (const step of steps.filter(({ name }) => !names.has(name))) {
        // The tables of a step have no static type.
        await step.up(transaction as unknown as Kysely<unknown>)
        await recordStep(bookkeeping, owner, step)
      }
    }),
  )
}

const rejectNewer = async (bookkeeping: Kysely<MigrationTables>, owner: string, steps: readonly Migration[]) => {
  const stepNames = new Set(steps.map(({ name }) => name))
  const requirements = await bookkeeping.selectFrom(needsTable).selectAll().where('owner', '=', owner).execute()
  const newer = requirements.find(({ name, needs }) => !stepNames.has(name) && !stepNames.has(needs))
  if (newer === undefined) return
  const step = `migration "${newer.name}" of the tables of ${owner}`
  const sentence = `the state database was migrated by a newer release and is not compatible with this one (${step})`
  throw new ServiceError(
    'conflict',
    `${sentence}; start the newer release, or restore a backup from before the migration`,
  )
}

const recordStep = async (bookkeeping: Kysely<MigrationTables>, owner: string, { name, needs }: Migration) => {
  await bookkeeping
    .insertInto(migrationsTable)
    .values({ owner, name, applied_at: new Date(systemClock.now()).toISOString() })
    .execute()
  if (needs !== undefined) await bookkeeping.insertInto(needsTable).values({ owner, name, needs }).execute()
}

/** Takes a lock until the end of the transaction. A write transaction of SQLite is already exclusive. */
const lockMigrations = async (database: Database, transaction: Kysely<Record<string, unknown>>): Promise<void> => {
  if (database.kind === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtext(${database.prefix + migrationsTable}))`.execute(transaction)
}

const createBookkeeping = async (bookkeeping: Kysely<MigrationTables>, prefix: string): Promise<void> => {
  const create = (name: keyof MigrationTables, valueColumn: string) =>
    bookkeeping.schema
      .createTable(name)
      .ifNotExists()
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn(valueColumn, 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint(`${prefix}${name}_key`, ['owner', 'name'])
      .execute()
  await create(migrationsTable, 'applied_at')
  await create(needsTable, 'needs')
}
