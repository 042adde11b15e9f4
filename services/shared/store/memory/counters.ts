import type { Counted } from '../counters.ts'

/** Windows that are remembered of one kind; beyond, the half is forgotten that began first. One takes some 250 bytes. */
const maxWindows = 100_000

interface Window {
  count: number
  endsAtMs: number
}

/** Windows of one kind in two halves, so that a flood of keys is forgotten at once and no key is looked for. */
interface Kind {
  young: Map<string, Window>
  old: Map<string, Window>
  /** When all the old ones have ended. */
  oldUntilMs: number
}

/** Counting in this process alone. Unlike the limiters of libraries it has no timer for each key, and a flood of keys fills no memory. */
export const countInMemory = (): ((what: string, key: string, seconds: number) => Counted) => {
  const kinds = new Map<string, Kind>()
  return (what, key, seconds) => {
    const now = performance.now()
    const kind = kinds.get(what) ?? { young: new Map(), old: new Map(), oldUntilMs: 0 }
    kinds.set(what, kind)
    const window = kind.young.get(key) ?? kind.old.get(key)
    if (window !== undefined && now < window.endsAtMs) {
      window.count += 1
      return { count: window.count, endsInMs: window.endsAtMs - now }
    }
    const lengthMs = seconds * 1_000
    if (now >= kind.oldUntilMs || kind.young.size >= maxWindows / 2) {
      kind.old = kind.young
      kind.young = new Map()
      kind.oldUntilMs = now + lengthMs
    }
    kind.young.set(key, { count: 1, endsAtMs: now + lengthMs })
    return { count: 1, endsInMs: lengthMs }
  }
}
