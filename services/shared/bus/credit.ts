/** How far a producer may be ahead of its consumer. */
export class Credit {
  readonly #window: number
  #sent = 0
  #consumed = 0
  #wake: ((granted: boolean) => void) | undefined

  constructor(window: number) {
    this.#window = window
  }

  /** Takes leave to send one frame, waiting at most `waitMs` and no longer than `signal`; false when there was none. */
  async take(waitMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#sent - this.#consumed >= this.#window && !(await this.#granted(waitMs, signal))) return false
    this.#sent += 1
    return true
  }

  /** The consumer is done with all frames before this one. A lost grant is made good by the next. */
  grant(consumed: number): void {
    if (consumed <= this.#consumed || consumed > this.#sent) return
    this.#consumed = consumed
    this.#wake?.(true)
  }

  async #granted(waitMs: number, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const give = () => resolve(false)
    const timer = setTimeout(give, waitMs)
    signal.addEventListener('abort', give, { once: true })
    this.#wake = resolve
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', give)
      this.#wake = undefined
    }
  }
}
