import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { read } from '../config/setting.ts'
import { storeSettings } from './config.ts'

/** How often something happened within a window of time; one count for all processes on one Redis, else one for each process. */
export interface Counters extends AsyncDisposable {
  /**
   * Counts `what` once more for `key`, immediately where no server is involved. The window of whole seconds begins with the first count and
   * is equally long for all keys. When a window allows many (`allowed`), a process may reserve some counts in advance: no count is
   * returned twice, and unused ones are lost. Does not fail when the server is unavailable.
   */
  count(what: string, key: string, seconds: number, allowed?: number): WindowCount | Promise<WindowCount>
}

/** The count of a window, this time included, and in how many milliseconds the window ends. */
export interface WindowCount {
  count: number
  endsInMs: number
}

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
const countInMemory = (): ((what: string, key: string, seconds: number) => WindowCount) => {
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

/** Opens counters on the Redis that the environment names, else in memory. While Redis is unavailable each process counts for itself. */
export const openCounters = async (env: Environment, log?: Logger): Promise<Counters> => {
  const { REDIS_URL } = read(storeSettings, env)
  const countAlone = countInMemory()
  if (!REDIS_URL) return { count: countAlone, [Symbol.asyncDispose]: async () => {} }
  const report = (connected: boolean) =>
    connected ? log?.info('counters are shared again') : log?.warn('Redis unavailable: every process counts for itself')
  return (await import('./redis/counters.ts')).openRedisCounters(REDIS_URL.href, countAlone, report)
}
