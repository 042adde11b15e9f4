/** The time that an answer may still take. It stands still while somebody is waited for. */
export interface TimeLeft extends Disposable {
  /** Aborts when none is left. */
  readonly signal: AbortSignal
  /** Does not count the time that this takes. */
  pausedFor<T>(waiting: Promise<T>): Promise<T>
}

export const openTimeLeft = (totalMs: number): TimeLeft => {
  const over = new AbortController()
  let leftMs = totalMs
  let runningSince = performance.now()
  let timer: NodeJS.Timeout
  const run = () => {
    runningSince = performance.now()
    timer = setTimeout(() => over.abort(), Math.max(0, leftMs))
  }
  const pause = () => {
    clearTimeout(timer)
    leftMs -= performance.now() - runningSince
  }
  run()
  return {
    signal: over.signal,
    async pausedFor(waiting) {
      pause()
      try {
        return await waiting
      } finally {
        run()
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
