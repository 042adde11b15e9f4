import type { LockSession } from '#proto/postgres-sessions.ts'

/** A session with those that wait for it. */
export interface LockNode {
  session: LockSession
  waiters: readonly LockNode[]
  /** Others that it waits for too. */
  alsoBehind: readonly number[]
}

/**
 * Who waits for whom, as trees. Each session stands once: below the first that it waits for, or at the top when it waits for none, and
 * when all that it waits for wait for it in turn.
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
  // Roots come first in what the server of this page tells, so that what is left afterwards is a deadlock.
  for (const session of sessions) {
    if (!placed.has(session.pid)) trees.push(below(session, undefined))
  }
  return trees
}
