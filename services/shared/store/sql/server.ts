import type { Kysely } from 'kysely'

/** What one kind of server adds to the common part. */
export interface Server {
  kysely: Kysely<unknown>
  /** As `kysely` with more time for a statement, where `kysely` limits it. */
  migrating?: Kysely<unknown>
  probe(): Promise<unknown>
  /** Calls after a `pg_notify` on the channel, and after a lost connection came back; never calls on SQLite. */
  listen(channel: string, listener: () => void): Promise<AsyncDisposable>
}
