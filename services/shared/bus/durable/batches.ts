/** Items that are written at once. */
const most = 500

/** A way of writing that gathers. */
export interface Batches<T> {
  /** Resolves and fails with the batch that the item is in. */
  write(item: T): Promise<void>
  /** Resolves when nothing is to be written any more. */
  idle(): Promise<void>
}

/** Writes together, and after it, what comes while a write is under way. */
export const inBatches = <T>(write: (items: readonly T[]) => Promise<void>): Batches<T> => {
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
      if (!open || open.items.length >= most) return begin(item)
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
 * Starts work when the current turn of the event loop ends, together with other waiting work. Writes to one connection then leave at
 * once, which wakes the reader a single time.
 */
export const together = <T>(work: () => T | Promise<T>): Promise<T> => {
  const { promise, resolve } = Promise.withResolvers<T>()
  waiting.push(() => resolve(start(work)))
  if (waiting.length === 1) setImmediate(runAll)
  return promise
}

/** Turns a synchronous failure into a rejection, so that it does not stop the other work from starting. */
const start = async <T>(work: () => T | Promise<T>): Promise<T> => work()
