import type { Kysely } from 'kysely'
import { type Heartbeat, startHeartbeat } from '../heartbeat.ts'
import { failureOf } from './failure.ts'
import { openLibsql } from './libsql.ts'
import { openPostgres } from './postgres.ts'
import type { StateDatabase } from './state-database.ts'
import { tablePrefix } from './table-prefix.ts'
import { withoutNul } from './without-nul.ts'

/** An open state database. Whoever owns tables in it migrates them with `migrate` and queries them through `run`. */
export interface Database extends AsyncDisposable {
  readonly kind: StateDatabase['kind']
  readonly connected: boolean
  /** Put before every name in the database; tables get it by themselves, names of indexes and channels need it written. */
  readonly prefix: string
  /** Queries over the named tables, which exist under their prefixed names. */
  tables<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /** The same, for migrations: a table that grew large is changed, and another process waited for, in minutes. */
  migrating<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /** Runs queries; fails `unavailable` at once while the server does not answer, and when it fails meanwhile. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Calls after a `pg_notify` on the channel, and after a lost connection came back; never calls on SQLite. */
  listen(channel: string, listener: () => void): Promise<AsyncDisposable>
}

/** What one kind of server adds to the common part. */
export interface Server {
  kysely: Kysely<unknown>
  /** As `kysely` with more time for a statement, where `kysely` limits it. */
  migrating?: Kysely<unknown>
  probe(): Promise<unknown>
  listen: Database['listen']
}

/** Opens the state database; throws `unavailable` when it does not answer within 10 s. `told` hears when it goes and comes back. */
export const openDatabase = async (database: StateDatabase, told?: (connected: boolean) => void): Promise<Database> => {
  const server = database.kind === 'postgres' ? await openPostgres(database.url) : await openLibsql(database)
  const heartbeat = startHeartbeat(server.probe, told)
  // The names are the caller's claim about the tables it owns; the driver knows no types.
  const over = <T>(kysely: Kysely<unknown>, names: readonly string[]) =>
    kysely.withPlugin(tablePrefix(database.tablePrefix, names)).withPlugin(withoutNul) as unknown as Kysely<T>
  return {
    kind: database.kind,
    get connected() {
      return heartbeat.connected
    },
    prefix: database.tablePrefix,
    tables: (names) => over(server.kysely, names),
    migrating: (names) => over(server.migrating ?? server.kysely, names),
    run: (work) => run(heartbeat, work),
    listen: server.listen,
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      await server.migrating?.destroy()
      await server.kysely.destroy()
    },
  }
}

const run = async <T>(heartbeat: Heartbeat, work: () => Promise<T>): Promise<T> => {
  heartbeat.require()
  try {
    return await work()
  } catch (error) {
    throw failureOf(error)
  }
}
