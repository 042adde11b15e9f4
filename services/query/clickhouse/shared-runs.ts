import { TimeLimit } from './time-limit.ts'

interface Waiting {
  signal: AbortSignal
  /** How long this asker waits. */
  limitMs: number
  /** What it is told then. */
  late: () => Error
}

interface Run<T> {
  result: Promise<T>
  controller: AbortController
  waiters: number
}

/** Equal questions asked at the same time share one run; it is aborted when the last of its askers has left. */
export interface SharedRuns<T> {
  join(key: string, waiting: Waiting, start: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** `onShared` is called for each that joined a run of others. */
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
    async join(key, waiting, start) {
      using limit = new TimeLimit({ outer: waiting.signal, limitMs: waiting.limitMs, late: waiting.late })
      limit.signal.throwIfAborted()
      const running = runs.get(key)
      if (running) onShared()
      const run = running ?? begin(key, start)
      run.waiters++
      try {
        return await firstOf(run.result, limit.signal)
      } finally {
        run.waiters--
        // A run that has ended is known no more, and needs no end.
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
