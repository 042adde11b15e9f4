import { TimeLimit } from './limits.ts'
import { LRUCache } from 'lru-cache'
import type { CacheClass } from '#proto/catalogue.ts'

const lifetimesMs: Readonly<Record<CacheClass, number>> = { realtime: 10_000, standard: 30_000, historical: 120_000 }
const maxEntries = 500
/** Maximum size of all responses as text; as objects they take several times as much memory. */
export const maxCachedBytes = 8 * 1024 * 1024

/** Recent results, limited in number, size and age; the least recently used are evicted first. */
export interface ResultCache<T> {
  get(key: string): T | undefined
  put(key: string, value: T, bytes: number, cacheClass: CacheClass): void
}

/** Returns an empty cache, which calls `onHit` for each reused result. */
export const openResultCache = <T extends {}>(elapsedMs: () => number, onHit = () => {}): ResultCache<T> => {
  const perf = { now: elapsedMs }
  const entries = new LRUCache<string, T>({ max: maxEntries, maxSize: maxCachedBytes, perf, ttlResolution: 0 })
  return {
    get(key) {
      const value = entries.get(key)
      if (value !== undefined) onHit()
      return value
    },
    put(key, value, bytes, cacheClass) {
      entries.set(key, value, { size: Math.max(1, bytes), ttl: lifetimesMs[cacheClass] })
    },
  }
}

interface Waiter {
  signal: AbortSignal
  /** How long this caller waits. */
  limitMs: number
  /** Returns the error for this caller after `limitMs`. */
  late: () => Error
}

interface Run<T> {
  result: Promise<T>
  controller: AbortController
  waiters: number
}

/** Concurrent calls with equal keys share one run, which is aborted when its last caller leaves. */
export interface SharedRuns<T> {
  join(key: string, waiter: Waiter, start: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** Returns runs that call `onShared` for each caller that joins an existing run. */
export const openSharedRuns = <T>(onShared: () => void = () => {}): SharedRuns<T> => {
  const runs = new Map<string, Run<T>>()

  const begin = (key: string, start: (signal: AbortSignal) => Promise<T>): Run<T> => {
    const controller = new AbortController()
    const run: Run<T> = { controller, waiters: 0, result: start(controller.signal) }
    runs.set(key, run)
    const forget = (): void => {
      if (runs.get(key) === run) runs.delete(key)
    }
    run.result.then(forget, forget)
    return run
  }

  return {
    async join(key, { signal, limitMs, late }, start) {
      using limit = new TimeLimit({ outer: signal, limitMs, late })
      limit.signal.throwIfAborted()
      const running = runs.get(key)
      if (running) onShared()
      const run = running ?? begin(key, start)
      run.waiters++
      try {
        return await firstOf(run.result, limit.signal)
      } finally {
        run.waiters--
        // A run that has ended is no longer in the map and must not be aborted.
        if (run.waiters === 0 && runs.get(key) === run) {
          runs.delete(key)
          run.controller.abort()
        }
      }
    },
  }
}

const firstOf = async <T>(result: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = (): void => reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([result, promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
