import { z } from 'zod'

/** A missing privilege of the source user, and the statement that grants it. */
export const MissingPrivilege = z.object({ message: z.string(), grant: z.string() })
export type MissingPrivilege = z.infer<typeof MissingPrivilege>

/** A process of the server, usually a client session. Durations are by the clock of the server. */
export const PostgresSession = z.object({
  /** 0 for a prepared transaction, which belongs to no process. */
  pid: z.int(),
  database: z.string().nullable(),
  user: z.string().nullable(),
  application: z.string().nullable(),
  /** Client address; null for local clients. */
  address: z.string().nullable(),
  /** Kind of process, such as `client backend`, `walsender` or `autovacuum worker`. */
  type: z.string().nullable(),
  /** State such as `active`, `idle` or `idle in transaction`; null without access. */
  state: z.string().nullable(),
  waitType: z.string().nullable(),
  waitEvent: z.string().nullable(),
  /** Time since the start of its transaction; null outside of one. */
  transactionMs: z.number().nullable(),
  /** Time since the start of the running statement; null if none is running. */
  statementMs: z.number().nullable(),
  /** Time since the last change of `state`. */
  stateMs: z.number().nullable(),
  /** Id of the statement pattern as decimal text; null before PostgreSQL 14, or if the server does not compute it. */
  queryId: z.string().nullable(),
  /** The running or last statement, cut to 2,000 characters; null without access. */
  query: z.string().nullable(),
})
export type PostgresSession = z.infer<typeof PostgresSession>

/** Number of client sessions by state. */
export const SessionCounts = z.object({
  active: z.int(),
  idle: z.int(),
  idleInTransaction: z.int(),
  /** Sessions that wait for a lock. */
  waitingForLock: z.int(),
  /** All sessions that count against `limit`, including those with an unknown state. */
  used: z.int(),
  /** The setting `max_connections` of the server. */
  limit: z.int(),
})
export type SessionCounts = z.infer<typeof SessionCounts>

/** A session that waits for a lock or blocks another one. */
export const LockSession = PostgresSession.extend({
  /** The lock that it waits for; null if it does not wait. */
  waitsFor: z
    .object({
      /** Lock type, such as `relation`, `transactionid` or `tuple`. */
      type: z.string(),
      mode: z.string(),
      /** The locked table or index; null for other locks. */
      relation: z.string().nullable(),
      /** Time waited for the lock; null before PostgreSQL 14. */
      waitedMs: z.number().nullable(),
    })
    .nullable(),
  /** Ids of the processes that block the session. */
  blockedBy: z.array(z.int()),
  /** Number of sessions that wait for this one, directly or indirectly. */
  blocks: z.int(),
})
export type LockSession = z.infer<typeof LockSession>
