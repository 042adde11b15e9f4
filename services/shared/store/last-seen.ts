import type { StoredValue } from './driver.ts'

/** Characters of all texts that are remembered, and of one. */
const mostInAll = 4_194_304
const mostInOne = 65_536

/** Keys as this process saw them last: what nobody else has written since can be written again without asking for it. */
export interface LastSeen {
  /** Undefined when it is not remembered; its `value` is undefined when there was none. */
  of(key: string): { value: StoredValue | undefined } | undefined
  saw(key: string, value: StoredValue | undefined): void
}

/** Remembers those seen last, within bounds. */
export const rememberLastSeen = (): LastSeen => {
  const seen = new Map<string, StoredValue | undefined>()
  let inAll = 0
  const forget = (key: string) => {
    inAll -= sizeOf(key, seen.get(key)) * Number(seen.has(key))
    seen.delete(key)
  }
  return {
    of: (key) => (seen.has(key) ? { value: seen.get(key) } : undefined),
    saw(key, value) {
      forget(key)
      if (sizeOf(key, value) > mostInOne) return
      seen.set(key, value)
      inAll += sizeOf(key, value)
      for (const oldest of seen.keys()) {
        if (inAll <= mostInAll) return
        forget(oldest)
      }
    },
  }
}

const sizeOf = (key: string, value: StoredValue | undefined): number => key.length + (value?.text.length ?? 0)
