/** Frames that have arrived and not been taken, and how they end. At most as many as credit allows; whoever pushes sees to that. */
export class FrameQueue {
  readonly #frames: Uint8Array[] = []
  #end: { tail: Uint8Array } | { error: unknown } | undefined
  #wake: (() => void) | undefined

  get length(): number {
    return this.#frames.length
  }

  push(frame: Uint8Array): void {
    this.#frames.push(frame)
    this.#wake?.()
  }

  end(tail: Uint8Array): void {
    this.#end ??= { tail }
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  /** The oldest frame, or the tail when there are no more; rejects when they ended in an error. */
  async take(): Promise<{ frame: Uint8Array } | { tail: Uint8Array }> {
    while (this.#frames.length === 0 && !this.#end) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    const frame = this.#frames.shift()
    if (frame) return { frame }
    if (!this.#end || 'error' in this.#end) throw this.#end?.error
    return this.#end
  }
}
