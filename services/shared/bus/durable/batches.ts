/** Maximum items of one write. */
const maxBatchItems = 500

/** Writes items in batches. */
export interface BatchWriter<T> {
  /** Resolves when the batch that contains the item is written; rejects if that write fails. */
  write(item: T): Promise<void>
  /** Resolves when all items are written. */
  idle(): Promise<void>
}

/** Returns a writer that collects items during a write and writes them together afterwards. */
export const createBatchWriter = <T>(write: (items: readonly T[]) => Promise<void>): BatchWriter<T> => {
  let last: Promise<void> = Promise.resolve()
  let open: { items: T[]; written: Promise<void> } | undefined
  const begin = (item: T): Promise<void> => {
    const items = [item]
    const written = last.then(() => {
      if (open?.items === items) open = undefined
      return write(items)
    })
    last = written.catch(() => {})
    open = { items, written }
    return written
  }
  return {
    write(item) {
      if (!open || open.items.length >= maxBatchItems) return begin(item)
      open.items.push(item)
      return open.written
    },
    idle: () => last,
  }
}

let waiting: (() => void)[] = []

const runAll = (): void => {
  const due = waiting
  waiting = []
  for (const work of due) work()
}

/**
 * Defers work to the end of the current event-loop iteration and starts all deferred work together. Messages to one
 * connection are then sent in one write, which wakes the reader once.
 */
export const startInNextBatch = <T>(work: () => T | Promise<T>): Promise<T> => {
  const { promise, resolve } = Promise.withResolvers<T>()
  waiting.push(() => resolve(startSafely(work)))
  if (waiting.length === 1) setImmediate(runAll)
  return promise
}

/** Starts work; a thrown error becomes a rejection, so that it does not prevent other work from starting. */
const startSafely = async <T>(work: () => T | Promise<T>): Promise<T> => work()
