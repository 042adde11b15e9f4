/** Of all answers together, as they were sent. */
export const mostKeptBytes = 16 * 1024 * 1024

interface Kept {
  answer: unknown
  bytes: number
  sinceMs: number
}

/** How long answers are kept, and how many. */
export interface Keeping {
  lifetimeMs: number
  mostEntries: number
}

/** Recent answers, bounded in age, number and size; the oldest go first. */
export interface KeptAnswers {
  get(key: string, keeping: Keeping): unknown
  put(key: string, answer: unknown, bytes: number, keeping: Keeping): void
}

/** The bounds come with each use, since settings may change while answers are kept. */
export const openKeptAnswers = (elapsedMs: () => number): KeptAnswers => {
  const kept = new Map<string, Kept>()
  let total = 0
  const drop = (key: string): void => {
    total -= kept.get(key)?.bytes ?? 0
    kept.delete(key)
  }
  return {
    get(key, { lifetimeMs }) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      if (elapsedMs() - found.sinceMs < lifetimeMs) return found.answer
      drop(key)
      return undefined
    },
    put(key, answer, bytes, { lifetimeMs, mostEntries }) {
      drop(key)
      if (lifetimeMs === 0 || bytes > mostKeptBytes) return
      kept.set(key, { answer, bytes, sinceMs: elapsedMs() })
      total += bytes
      // A map keeps the order in which its keys came.
      for (const oldest of kept.keys()) {
        if (kept.size <= mostEntries && total <= mostKeptBytes) return
        drop(oldest)
      }
    },
  }
}
