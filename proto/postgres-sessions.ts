import { z } from 'zod'

/** What the user of the source may not see, and the statement by which an administrator lets it. */
export const Limited = z.object({ message: z.string(), grant: z.string() })
export type Limited = z.infer<typeof Limited>

/** One process of the server, most of them sessions of clients. Durations are by the clock of the server. */
export const PostgresSession = z.object({
  /** 0 stands for a prepared transaction, which no process holds any more. */
  pid: z.int(),
  database: z.string().nullable(),
  user: z.string().nullable(),
  application: z.string().nullable(),
  /** Where its client is; null for one on the machine of the server. */
  address: z.string().nullable(),
  /** `client backend`, `walsender`, `autovacuum worker`, … */
  type: z.string().nullable(),
  /** `active`, `idle`, `idle in transaction`, …; null where it may not be seen. */
  state: z.string().nullable(),
  waitType: z.string().nullable(),
  waitEvent: z.string().nullable(),
  /** Since its transaction began; null outside of one. */
  transactionMs: z.number().nullable(),
  /** Since the statement began that runs; null when none does. */
  statementMs: z.number().nullable(),
  /** Since it is in this state. */
  stateMs: z.number().nullable(),
  /** Identifies its statement's pattern, as decimal text; null before PostgreSQL 14 and where it is not computed. */
  queryId: z.string().nullable(),
  /** Its statement, or the last one, cut to 2,000 characters; null where it may not be seen. */
  query: z.string().nullable(),
})
export type PostgresSession = z.infer<typeof PostgresSession>

/** How many sessions of clients there are, by what they do. */
export const SessionCounts = z.object({
  active: z.int(),
  idle: z.int(),
  idleInTransaction: z.int(),
  /** Of all of them: waiting for a lock. */
  waitingForLock: z.int(),
  /** All that count against `limit`, those of no known state included. */
  used: z.int(),
  /** `max_connections` */
  limit: z.int(),
})
export type SessionCounts = z.infer<typeof SessionCounts>

/** A session that waits for a lock, or that another waits for. */
export const LockSession = PostgresSession.extend({
  /** The lock that it waits for; null when it waits for none. */
  waitsFor: z
    .object({
      /** `relation`, `transactionid`, `tuple`, … */
      type: z.string(),
      mode: z.string(),
      /** The table or index, where it is one. */
      relation: z.string().nullable(),
      /** Null before PostgreSQL 14. */
      waitedMs: z.number().nullable(),
    })
    .nullable(),
  /** Processes that must end or commit first. */
  blockedBy: z.array(z.int()),
  /** Sessions that wait for it, for one of those, and so on. */
  blocks: z.int(),
})
export type LockSession = z.infer<typeof LockSession>
