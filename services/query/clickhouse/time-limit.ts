/** One signal for everything that may end an exchange early: its caller left, or its time is over. */
export interface TimeLimit extends Disposable {
  readonly signal: AbortSignal
  /** Ends it before its time. */
  end(error: Error): void
}

interface Limits {
  /** The caller's own signal. */
  outer: AbortSignal
  limitMs: number
  /** The error to abort with once the time is over. */
  late: () => Error
}

/** Longest time a timer can measure. */
const maxTimerMs = 2_147_483_647

/** Starts counting now. */
export const openTimeLimit = ({ outer, limitMs, late }: Limits): TimeLimit => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(late()), Math.min(Math.max(0, limitMs), maxTimerMs))
  const leave = (): void => controller.abort(outer.reason)
  if (outer.aborted) leave()
  else outer.addEventListener('abort', leave, { once: true })
  return {
    signal: controller.signal,
    end: (error) => controller.abort(error),
    [Symbol.dispose]() {
      clearTimeout(timer)
      outer.removeEventListener('abort', leave)
    },
  }
}
