import type { CacheClass } from '#proto/catalogue.ts'

/** How long an answer of a class may be reused. */
const lifetimesMs: Readonly<Record<CacheClass, number>> = { realtime: 10_000, standard: 30_000, historical: 120_000 }
const maxEntries = 500
/** Of the answers as text; as objects they take several times as much. */
export const maxCachedBytes = 8 * 1024 * 1024

interface Entry<T> {
  value: T
  bytes: number
  expiresMs: number
}

/** Recent answers, bounded in number, size and age; the oldest go first. */
export interface AnswerCache<T> {
  get(key: string): T | undefined
  put(key: string, value: T, bytes: number, cacheClass: CacheClass): void
}

/** `onFound` is called for each answer that is given again. */
export const openAnswerCache = <T>(elapsedMs: () => number, onFound: () => void = () => {}): AnswerCache<T> => {
  const entries = new Map<string, Entry<T>>()
  let total = 0

  const drop = (key: string): void => {
    total -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.expiresMs > elapsedMs()) {
        onFound()
        return entry.value
      }
      drop(key)
      return undefined
    },
    put(key, value, bytes, cacheClass) {
      drop(key)
      if (bytes > maxCachedBytes) return
      entries.set(key, { value, bytes, expiresMs: elapsedMs() + lifetimesMs[cacheClass] })
      total += bytes
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && total <= maxCachedBytes) return
        drop(oldest)
      }
    },
  }
}
