import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { parseSettings } from '../config/setting.ts'
import { storeSettings } from './config.ts'

/** Fixed-window counters. Processes with the same Redis share them; without Redis, each process counts separately. */
export interface Counters extends AsyncDisposable {
  /**
   * Increments the counter `what` of `key` and returns the count of its window. In memory, returns no promise.
   * A window starts
   * with its first count, and all keys of a counter have the same window length. With a high limit (`allowed`), a
   * process may reserve counts in advance: no count is returned twice, and unused ones are lost. Does not fail if the
   * server is unavailable.
   */
  count(what: string, key: string, seconds: number, allowed?: number): WindowCount | Promise<WindowCount>
}

/** The current count of a window, including this call, and the milliseconds until its end. */
export interface WindowCount {
  count: number
  endsInMs: number
}

/** Maximum windows per counter, about 250 bytes each. If it is exceeded, the older generation is dropped. */
const maxWindows = 100_000

interface CountWindow {
  count: number
  endsAtMs: number
}

/** Windows of one counter in two generations. The old one is dropped as a whole, without a search for ended windows. */
interface CounterWindows {
  young: Map<string, CountWindow>
  old: Map<string, CountWindow>
  /** Time at which all windows of the old generation have ended. */
  oldUntilMs: number
}

/** Returns a function that counts in memory, without timers and with bounded memory for any number of keys. */
const createMemoryCount = (): ((what: string, key: string, seconds: number) => WindowCount) => {
  const kinds = new Map<string, CounterWindows>()
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

/**
 * Opens counters in the configured Redis, otherwise in memory. While Redis is unavailable, each process counts
 * separately.
 */
export const openCounters = async (env: Environment, log?: Logger): Promise<Counters> => {
  const { REDIS_URL } = parseSettings(storeSettings, env)
  const countLocally = createMemoryCount()
  if (!REDIS_URL) return { count: countLocally, [Symbol.asyncDispose]: async () => {} }
  const report = (connected: boolean) =>
    connected
      ? log?.info('Redis available: counters are shared')
      : log?.warn('Redis unavailable: each process counts separately')
  return (await import('./redis/counters.ts')).openRedisCounters(REDIS_URL.href, countLocally, report)
}
