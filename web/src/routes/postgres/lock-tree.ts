import type { LockSession } from '#proto/postgres-sessions.ts'

/** A session in a lock tree, with the sessions that wait for it. */
export interface LockNode {
  session: LockSession
  waiters: readonly LockNode[]
  /** Process ids of other sessions that also block this session. */
  alsoBehind: readonly number[]
}

/**
 * Returns the lock waits as trees. Each session appears once, below one of its blockers. Sessions without a blocker are
 * roots, and so is the first session of a deadlock.
 */
export const buildLockTrees = (sessions: readonly LockSession[]): LockNode[] => {
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
  // The API returns sessions without blockers first. Sessions outside of these trees are in, or wait for, a deadlock.
  for (const session of sessions) {
    if (!placed.has(session.pid)) trees.push(below(session, undefined))
  }
  return trees
}
