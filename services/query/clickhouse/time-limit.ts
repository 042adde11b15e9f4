interface Limits {
  /** The caller's own signal. */
  outer: AbortSignal
  limitMs: number
  /** The error to abort with once the time is over. */
  late: () => Error
}

/** Longest time a timer can measure. */
const maxTimerMs = 2_147_483_647

/** One signal for everything that may end an exchange early: its caller left, or its time is over. Starts counting when it is made. */
export class TimeLimit implements Disposable {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal
  readonly #timer: NodeJS.Timeout

  constructor({ outer, limitMs, late }: Limits) {
    this.#outer = outer
    this.#timer = setTimeout(() => this.end(late()), Math.min(Math.max(0, limitMs), maxTimerMs))
    if (outer.aborted) this.#leave()
    else outer.addEventListener('abort', this.#leave, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Ends it before its time. */
  end(error: Error): void {
    this.#controller.abort(error)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#outer.removeEventListener('abort', this.#leave)
  }

  readonly #leave = (): void => this.#controller.abort(this.#outer.reason)
}
