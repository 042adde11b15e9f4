/** Items to process, and the maximum number that are processed at once. */
export interface WorkQueue<T> {
  items: readonly T[]
  atOnce: number
}

/**
 * Runs `work` for each item in order, at most `atOnce` at a time. After a failure no further item starts; rejects once
 * the running items have ended.
 */
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
  const runWorker = async (): Promise<void> => {
    for (const queue of waiting) {
      // This queue is at its concurrency limit, so the worker moves on to the next queue instead of idling.
      if (queue.free === 0) continue
      queue.free -= 1
      // All workers share the iterators, so each item is processed once.
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
  const workers = await Promise.allSettled(Array.from({ length: width }, runWorker))
  for (const ended of workers) if (ended.status === 'rejected') throw ended.reason
}
