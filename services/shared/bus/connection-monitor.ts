import { ServiceError } from '#proto/errors.ts'
import type { Wire } from './wire.ts'

/** Reacts to changes of the connection of a bus. */
export interface ConnectionListener {
  /** Called once, when a disconnection lasts too long or the bus closes. */
  onCutOff(error: ServiceError): void
  /** Called each time the connection is restored. */
  onRestored(): void
}

/** Monitors the connection of a bus, and fails its calls when a disconnection lasts too long. */
export class ConnectionMonitor {
  readonly #wire: Wire
  readonly #cutOffMs: number
  readonly #listeners = new Set<ConnectionListener>()
  #timer: NodeJS.Timeout | undefined
  #cutOff = false
  #closed = false
  #restorations = 0

  constructor(wire: Wire, cutOffMs: number) {
    this.#wire = wire
    this.#cutOffMs = cutOffMs
    wire.onConnection((connected) => (connected ? this.#connected() : this.#disconnected()))
  }

  get connected(): boolean {
    return this.#wire.connected && !this.#closed
  }

  /** True after a disconnection that lasted too long, until the connection is restored. */
  get isCutOff(): boolean {
    return this.#cutOff
  }

  /** How often the connection was established or restored. */
  get restorations(): number {
    return this.#restorations
  }

  /** Adds a listener until `forget`, or until the connection is cut off. */
  watch(listener: ConnectionListener): void {
    this.#listeners.add(listener)
  }

  forget(listener: ConnectionListener): void {
    this.#listeners.delete(listener)
  }

  /** Resolves when connected; rejects with `unavailable` when a disconnection lasts too long or the bus closes. */
  async restored(): Promise<void> {
    if (this.connected) return
    if (this.#closed) throw createStoppingError()
    if (this.#cutOff) throw createCutOffError()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const listener = { onCutOff: reject, onRestored: resolve }
    this.watch(listener)
    try {
      await promise
    } finally {
      this.forget(listener)
    }
  }

  /** Fails all waiting calls. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#fail(createStoppingError())
  }

  #connected(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#cutOff = false
    this.#restorations += 1
    // A listener may add others, which must not be called.
    const present = [...this.#listeners]
    for (const listener of present) listener.onRestored()
  }

  #disconnected(): void {
    this.#timer ??= setTimeout(() => {
      this.#cutOff = true
      this.#fail(createCutOffError())
    }, this.#cutOffMs)
  }

  #fail(error: ServiceError): void {
    const waiting = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of waiting) listener.onCutOff(error)
  }
}

const createCutOffError = () => new ServiceError('unavailable', 'this process lost its connection to NATS')

const createStoppingError = () => new ServiceError('unavailable', 'this process is stopping')
