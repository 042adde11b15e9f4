/** Items to process, and the maximum number that are processed at once. */
export interface WorkQueue<T> {
  items: readonly T[]
  atOnce: number
}

/** Runs `work` for each item in order, at most `atOnce` at a time; rejects after the running ones have ended. */
export const runConcurrently = <T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> => runQueues([{ items, atOnce }], work)

/**
 * Processes queues in order. A queue starts once all items of the earlier ones have started, even if some still run.
 */
export const runQueues = async <T>(
  queues: readonly WorkQueue<T>[],
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const waiting = queues.map(({ items, atOnce }) => ({ items: items.values(), free: atOnce }))
  let isFailed = false
  const lane = async (): Promise<void> => {
    for (const queue of waiting) {
      // A free lane continues with the next queue instead of waiting for the last item of this one.
      if (queue.free === 0) continue
      queue.free -= 1
      // All lanes share the iterators, so each item is processed once.
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
