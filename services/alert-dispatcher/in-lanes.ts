/** Items of which so many may be worked on at a time. */
export interface Queue<T> {
  items: readonly T[]
  atOnce: number
}

/** Does one piece of work for each item, so many at a time, in their order; rejects once those in flight have ended. */
export const inLanes = <T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> =>
  queueByQueue([{ items, atOnce }], work)

/** The same for one queue after another: the next begins when nothing waits in those before it, though some may be in flight. */
export const queueByQueue = async <T>(queues: readonly Queue<T>[], work: (item: T) => Promise<void>): Promise<void> => {
  const waiting = queues.map(({ items, atOnce }) => ({ items: items.values(), free: atOnce }))
  let isFailed = false
  const lane = async (): Promise<void> => {
    for (const queue of waiting) {
      // Whoever is ready first goes on with the next queue, which need not wait for the last of this one.
      if (queue.free === 0) continue
      queue.free -= 1
      // All lanes take from the same iterators, so each item is taken once.
      for (const item of queue.items) {
        if (isFailed) return
        try {
          await work(item)
        } catch (error) {
          isFailed = true
          throw error
        }
      }
    }
  }
  const width = Math.max(0, ...queues.map(({ items, atOnce }) => Math.min(atOnce, items.length)))
  const lanes = await Promise.allSettled(Array.from({ length: width }, lane))
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason
}
