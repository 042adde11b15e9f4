import type { Counted } from '../counters.ts'

/** Windows that are remembered of one kind; beyond, those that began first are forgotten. One takes some 250 bytes. */
const maxWindows = 100_000

interface Window {
  count: number
  endsAtMs: number
}

/** Counting in this process alone. Unlike the limiters of libraries it has no timer for each key, and a flood of keys fills no memory. */
export const countInMemory = (): ((what: string, key: string, seconds: number) => Counted) => {
  const kinds = new Map<string, Map<string, Window>>()
  return (what, key, seconds) => {
    const now = performance.now()
    const windows = kinds.get(what)
    const window = windows?.get(key)
    if (window !== undefined && now < window.endsAtMs) {
      window.count += 1
      return { count: window.count, endsInMs: window.endsAtMs - now }
    }
    const kind = windows ?? new Map<string, Window>()
    kinds.set(what, kind)
    begin(kind, key, { count: 1, endsAtMs: now + seconds * 1_000 }, now)
    return { count: 1, endsInMs: seconds * 1_000 }
  }
}

const begin = (windows: Map<string, Window>, key: string, window: Window, now: number): void => {
  // Written anew rather than over, a window is the last of the map; so the first are those that end first.
  windows.delete(key)
  for (const [oldest, { endsAtMs }] of windows) {
    if (now < endsAtMs && windows.size < maxWindows) break
    windows.delete(oldest)
  }
  windows.set(key, window)
}
