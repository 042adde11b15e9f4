import { LRUCache } from 'lru-cache'
import type { CacheClass } from '#proto/catalogue.ts'

/** The cache class of a chart, of values that cost much to read, or of values that change only when a host restarts. */
export type ResultCacheClass = CacheClass | 'costly' | 'constant'

const lifetimesMs: Readonly<Record<ResultCacheClass, number>> = {
  realtime: 10_000,
  standard: 30_000,
  historical: 120_000,
  costly: 300_000,
  constant: 3_600_000,
}
const maxEntries = 500
/** Maximum total size of the responses as text, in bytes. Parsed, they use several times as much memory. */
export const maxCachedBytes = 8 * 1024 * 1024

/** Recent results, limited in number, size and age; the least recently used are evicted first. */
export interface ResultCache<T> {
  get(key: string): T | undefined
  put(key: string, value: T, bytes: number, cacheClass: ResultCacheClass): void
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
