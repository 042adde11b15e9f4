import { TimeLimit } from './time-limit.ts'

interface Waiter {
  signal: AbortSignal
  /** How long this caller waits. */
  limitMs: number
  /** Returns the error for this caller after `limitMs`. */
  late: () => Error
}

interface Run<T> {
  result: Promise<T>
  controller: AbortController
  waiters: number
}

/** Lets concurrent calls with equal keys share one run, which is aborted when its last caller cancels. */
export interface SharedRuns<T> {
  join(key: string, waiter: Waiter, start: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** Returns an empty set of shared runs. It calls `onShared` for each caller that joins an existing run. */
export const openSharedRuns = <T>(onShared: () => void = () => {}): SharedRuns<T> => {
  const runs = new Map<string, Run<T>>()

  const begin = (key: string, start: (signal: AbortSignal) => Promise<T>): Run<T> => {
    const controller = new AbortController()
    const run: Run<T> = { controller, waiters: 0, result: start(controller.signal) }
    runs.set(key, run)
    const forget = (): void => {
      if (runs.get(key) === run) runs.delete(key)
    }
    run.result.then(forget, forget)
    return run
  }

  return {
    async join(key, { signal, limitMs, late }, start) {
      using limit = new TimeLimit({ outer: signal, limitMs, late })
      limit.signal.throwIfAborted()
      const running = runs.get(key)
      if (running) onShared()
      const run = running ?? begin(key, start)
      run.waiters++
      try {
        return await firstOf(run.result, limit.signal)
      } finally {
        run.waiters--
        // A run that has ended is no longer in the map and must not be aborted.
        if (run.waiters === 0 && runs.get(key) === run) {
          runs.delete(key)
          run.controller.abort()
        }
      }
    },
  }
}

const firstOf = async <T>(result: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = (): void => reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([result, promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
