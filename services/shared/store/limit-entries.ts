/**
 * Returns the options of an `LRUCache` that keeps at most `count` entries. With `max` instead, the cache allocates room
 * for all entries when it is created.
 */
export const limitEntries = (count: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: count,
  sizeCalculation: () => 1,
})
