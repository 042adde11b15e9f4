/** Does one piece of work for each item, so many at a time, in their order; rejects once those in flight have ended. */
export const inLanes = async <T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const waiting = items.values()
  let isFailed = false
  const lane = async (): Promise<void> => {
    // All lanes take from the same iterator, so each item is taken once.
    for (const item of waiting) {
      if (isFailed) return
      try {
        await work(item)
      } catch (error) {
        isFailed = true
        throw error
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, lane))
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason
}
