interface TimeLimitOptions {
  /** The signal of the caller. */
  outer: AbortSignal
  limitMs: number
  /** Returns the error of a timeout. */
  late: () => Error
}

/** Longest delay that a timer supports. */
const maxTimerMs = 2_147_483_647

/** A signal that aborts when the caller cancels, or `limitMs` after construction. */
export class TimeLimit implements Disposable {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal
  readonly #late: () => Error
  #timer: NodeJS.Timeout

  constructor({ outer, limitMs, late }: TimeLimitOptions) {
    this.#outer = outer
    this.#late = late
    this.#timer = this.#start(limitMs)
    if (outer.aborted) this.#leave()
    else outer.addEventListener('abort', this.#leave, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Replaces the limit by one that begins now. */
  restart(limitMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = this.#start(limitMs)
  }

  /** Aborts the signal early. */
  end(error: Error): void {
    this.#controller.abort(error)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#outer.removeEventListener('abort', this.#leave)
  }

  #start(limitMs: number): NodeJS.Timeout {
    return setTimeout(() => this.end(this.#late()), Math.min(Math.max(0, limitMs), maxTimerMs))
  }

  readonly #leave = (): void => this.#controller.abort(this.#outer.reason)
}
