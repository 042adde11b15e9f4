import type { LockSession } from '#proto/postgres-sessions.ts'

/** Who waits for whom, as the server tells it. */
export type Waiting = Omit<LockSession, 'blocks'>

/** Each with the number of those that wait for it directly or through others; those that keep most from going on come first. */
export const blockingOf = (sessions: readonly Waiting[]): LockSession[] => {
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

/** A deadlock leads back to where it began, until the server ends it. */
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
