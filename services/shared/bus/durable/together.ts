let waiting: (() => void)[] = []

const runAll = (): void => {
  const due = waiting
  waiting = []
  for (const work of due) work()
}

/**
 * Begins work when the present turn of the event loop is over, with all else that waits for it: what they write to one connection
 * leaves at once, and whoever reads there is woken once and not for each.
 */
export const together = <T>(work: () => T | Promise<T>): Promise<T> => {
  const { promise, resolve } = Promise.withResolvers<T>()
  waiting.push(() => resolve(begun(work)))
  if (waiting.length === 1) setImmediate(runAll)
  return promise
}

/** A failure of its beginning is one of its own, and keeps nobody else from beginning. */
const begun = async <T>(work: () => T | Promise<T>): Promise<T> => work()
