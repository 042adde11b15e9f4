import { z } from 'zod'
import { LockSession } from '#proto/postgres-sessions.ts'
import { maxPostgresEntries } from '#proto/postgres-source.ts'
import { redactSession, findMissingPrivilege, sessionColumns } from './sessions.ts'
import type { PostgresSource } from './source.ts'

/** A session with its lock in separate columns. */
const Row = LockSession.omit({ blocks: true, waitsFor: true }).extend({
  lockType: z.string().nullable(),
  lockMode: z.string().nullable(),
  relation: z.string().nullable(),
  waitedMs: z.number().nullable(),
})

/**
 * Calls `pg_blocking_pids` for waiting sessions only, because it briefly locks the server's lock table. Table names
 * resolve in the source's own database only. Versions before 14 have no `waitstart`.
 */
const locksSql = `WITH waiter AS MATERIALIZED (
  SELECT pid, pg_blocking_pids(pid) AS blockers FROM pg_stat_activity WHERE wait_event_type = 'Lock' LIMIT $1
), involved AS (
  SELECT pid FROM waiter UNION SELECT unnest(blockers) FROM waiter
)
SELECT involved.pid, ${sessionColumns}, coalesce(waiter.blockers, '{}') AS "blockedBy", l.locktype AS "lockType", l.mode AS "lockMode",
  CASE WHEN l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) THEN l.relation::regclass::text END AS relation,
  round(extract(epoch FROM clock_timestamp() - (to_jsonb(l) ->> 'waitstart')::timestamptz) * 1000)::float8 AS "waitedMs"
FROM involved
LEFT JOIN waiter USING (pid)
LEFT JOIN pg_stat_activity AS a USING (pid)
LEFT JOIN LATERAL (SELECT * FROM pg_locks WHERE pg_locks.pid = involved.pid AND NOT granted LIMIT 1) AS l ON waiter.pid IS NOT NULL
LIMIT $1`

/** Reads sessions that wait for locks, and the sessions that block them. */
export const readLocks = (source: PostgresSource, withValues: boolean) =>
  source.read(async (runQuery) => {
    const rows = await runQuery(Row, locksSql, [maxPostgresEntries + 1])
    const waiting = rows.slice(0, maxPostgresEntries).map(({ lockType, lockMode, relation, waitedMs, ...session }) => ({
      ...redactSession(session, withValues),
      waitsFor: lockType && lockMode ? { type: lockType, mode: lockMode, relation, waitedMs } : null,
    }))
    return {
      sessions: rankBlockers(waiting),
      truncated: rows.length > maxPostgresEntries,
      limited: await findMissingPrivilege(runQuery),
    }
  })

/** A waiting session and the sessions that block it. */
export type WaitingSession = Omit<LockSession, 'blocks'>

/**
 * Adds to each session the number of sessions that wait for it, directly or indirectly. Sessions that wait for no
 * other session come first. Within both groups, sessions with the most waiting sessions come first.
 */
export const rankBlockers = (sessions: readonly WaitingSession[]): LockSession[] => {
  const waitersOf = new Map<number, number[]>()
  for (const { pid, blockedBy } of sessions) {
    for (const blocker of new Set(blockedBy)) waitersOf.set(blocker, [...(waitersOf.get(blocker) ?? []), pid])
  }
  return sessions
    .map((session) => ({
      ...session,
      blockedBy: [...new Set(session.blockedBy)],
      blocks: countBehind(session.pid, waitersOf),
    }))
    .toSorted((one, other) => rootsFirst(one, other) || other.blocks - one.blocks || one.pid - other.pid)
}

const rootsFirst = (one: LockSession, other: LockSession): number =>
  Number(one.blockedBy.length > 0) - Number(other.blockedBy.length > 0)

/** Counts the sessions that wait for `pid`, directly or indirectly. Deadlocks are cycles, so each is visited once. */
const countBehind = (pid: number, waitersOf: ReadonlyMap<number, readonly number[]>): number => {
  const seen = new Set([pid])
  const next = [pid]
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    for (const waiter of waitersOf.get(at) ?? []) {
      if (seen.has(waiter)) continue
      seen.add(waiter)
      next.push(waiter)
    }
  }
  return seen.size - 1
}
