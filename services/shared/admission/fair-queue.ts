/**
 * A fair queue. Callers are served in rotation, one item at a time, so that a caller with many items does not block
 * the others.
 */
export interface FairQueue<T> {
  readonly size: number
  add(caller: string, item: T): void
  /** Removes an item; `isServed` moves its caller to the end of the rotation. */
  remove(caller: string, item: T, isServed: boolean): void
  /** The next item: the oldest one of the next caller. */
  readonly first: T | undefined
  /** The newest item of the caller that is served last. */
  readonly last: T | undefined
  /** Returns how many items are served before a new item of this caller. */
  ahead(caller: string): number
}

/** Creates an empty queue. */
export const createFairQueue = <T>(): FairQueue<T> => {
  // The items of each caller, in rotation order. A caller without items has no entry.
  const callers = new Map<string, Set<T>>()
  let size = 0
  return {
    get size() {
      return size
    },
    add(caller, item) {
      const own = callers.get(caller) ?? new Set()
      callers.set(caller, own.add(item))
      size++
    },
    remove(caller, item, isServed) {
      const own = callers.get(caller)
      if (!own?.delete(item)) return
      size--
      if (isServed || own.size === 0) callers.delete(caller)
      if (isServed && own.size > 0) callers.set(caller, own)
    },
    get first() {
      const [own] = callers.values()
      const [item] = own ?? []
      return item
    },
    get last() {
      return [...([...callers.values()].at(-1) ?? [])].at(-1)
    },
    ahead(caller) {
      const own = callers.get(caller)?.size ?? 0
      let ahead = own
      for (const [other, { size: items }] of callers) if (other !== caller) ahead += Math.min(items, own + 1)
      return ahead
    },
  }
}
