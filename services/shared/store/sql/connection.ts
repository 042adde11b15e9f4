import type { Kysely } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { failureOf, reasonOf } from './failure.ts'
import { openLibsql } from './libsql.ts'
import { openPostgres } from './postgres.ts'
import type { StateDatabase } from './state-database.ts'
import { tablePrefix } from './table-prefix.ts'
import { withoutNul } from './without-nul.ts'

/** An open state database. Whoever owns tables in it migrates them with `migrate` and queries them through `run`. */
export interface Database extends AsyncDisposable {
  readonly kind: StateDatabase['kind']
  readonly connected: boolean
  /** What is wrong with it in words, with its path or address: why it does not answer, or what failed within the last minute. */
  readonly problem: string | undefined
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

/** Hears when the database stops and begins to answer, and with a reason of what it fails at meanwhile. */
export type DatabaseListener = (connected: boolean, reason?: string) => void

/** A failure is reported for so long: a full disk fails writes while reads go on. */
const reportedForMs = 60_000

/** Opens the state database; throws `unavailable` when it does not answer within 10 s. */
export const openDatabase = async (where: StateDatabase, told: DatabaseListener = () => {}): Promise<Database> => {
  const server = where.kind === 'postgres' ? await openPostgres(where) : await openLibsql(where)
  let failed: { reason: string; atMs: number } | undefined
  const explain = (error: unknown) => (error === undefined ? undefined : reasonOf(error, where))
  const heartbeat = startHeartbeat(server.probe, told, explain)
  const latest = () => (failed && performance.now() - failed.atMs < reportedForMs ? failed.reason : undefined)
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    heartbeat.require()
    try {
      return await work()
    } catch (error) {
      const failure = failureOf(error, where)
      if (failure !== error && failure instanceof ServiceError) {
        const isNews = latest() !== failure.message
        failed = { reason: failure.message, atMs: performance.now() }
        if (isNews) told(true, failure.message)
      }
      throw failure
    }
  }
  // The names are the caller's claim about the tables it owns; the driver knows no types.
  const over = <T>(kysely: Kysely<unknown>, names: readonly string[]) =>
    kysely.withPlugin(tablePrefix(where.tablePrefix, names)).withPlugin(withoutNul) as unknown as Kysely<T>
  return {
    kind: where.kind,
    get connected() {
      return heartbeat.connected
    },
    get problem() {
      return heartbeat.reason ?? latest()
    },
    prefix: where.tablePrefix,
    tables: (names) => over(server.kysely, names),
    migrating: (names) => over(server.migrating ?? server.kysely, names),
    run,
    listen: server.listen,
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      await server.migrating?.destroy()
      await server.kysely.destroy()
    },
  }
}
