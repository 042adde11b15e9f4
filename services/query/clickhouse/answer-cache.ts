import { LRUCache } from 'lru-cache'
import type { CacheClass } from '#proto/catalogue.ts'

/** How long an answer of a class may be reused. */
const lifetimesMs: Readonly<Record<CacheClass, number>> = { realtime: 10_000, standard: 30_000, historical: 120_000 }
const maxEntries = 500
/** Of the answers as text; as objects they take several times as much. */
export const maxCachedBytes = 8 * 1024 * 1024

/** Recent answers, bounded in number, size and age; the ones not needed for longest go first. */
export interface AnswerCache<T> {
  get(key: string): T | undefined
  put(key: string, value: T, bytes: number, cacheClass: CacheClass): void
}

/** `onFound` is called for each answer that is given again. */
export const openAnswerCache = <T extends {}>(elapsedMs: () => number, onFound = () => {}): AnswerCache<T> => {
  const perf = { now: elapsedMs }
  const entries = new LRUCache<string, T>({ max: maxEntries, maxSize: maxCachedBytes, perf, ttlResolution: 0 })
  return {
    get(key) {
      const value = entries.get(key)
      if (value !== undefined) onFound()
      return value
    },
    put(key, value, bytes, cacheClass) {
      entries.set(key, value, { size: Math.max(1, bytes), ttl: lifetimesMs[cacheClass] })
    },
  }
}
