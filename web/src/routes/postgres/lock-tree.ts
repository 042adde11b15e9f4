import type { LockSession } from '#proto/postgres-sessions.ts'

/** A session with the sessions that wait for it. */
export interface LockNode {
  session: LockSession
  waiters: readonly LockNode[]
  /** Further blockers of the session. */
  alsoBehind: readonly number[]
}

/**
 * Returns the lock waits as trees. Each session appears once: below its first blocker, or at the top if it has none or is part
 * of a deadlock.
 */
export const lockTrees = (sessions: readonly LockSession[]): LockNode[] => {
  const placed = new Set<number>()
  const below = (session: LockSession, blocker: number | undefined): LockNode => {
    placed.add(session.pid)
    const waiters: LockNode[] = []
    for (const waiter of sessions) {
      if (waiter.blockedBy.includes(session.pid) && !placed.has(waiter.pid)) waiters.push(below(waiter, session.pid))
    }
    return { session, waiters, alsoBehind: session.blockedBy.filter((pid) => pid !== blocker) }
  }
  const trees: LockNode[] = []
  // The API lists roots first, so that the remaining sessions form deadlocks.
  for (const session of sessions) {
    if (!placed.has(session.pid)) trees.push(below(session, undefined))
  }
  return trees
}
