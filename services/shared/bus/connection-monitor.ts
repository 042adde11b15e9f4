import { ServiceError } from '#proto/errors.ts'
import type { Wire } from './wire.ts'

/** Monitors the connection of a bus, and fails its calls when a disconnection lasts too long. */
export class ConnectionMonitor {
  readonly #wire: Wire
  readonly #cutOffMs: number
  readonly #onCutOff = new Set<(error: ServiceError) => void>()
  readonly #onConnected = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #cutOff = false
  #closed = false

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

  /** Calls the listener once, when a disconnection lasts too long or the bus closes. */
  onCutOff(listener: (error: ServiceError) => void): void {
    this.#onCutOff.add(listener)
  }

  forget(listener: (error: ServiceError) => void): void {
    this.#onCutOff.delete(listener)
  }

  /** Resolves when connected; rejects with `unavailable` when a disconnection lasts too long or the bus closes. */
  async restored(): Promise<void> {
    if (this.connected) return
    if (this.#closed) throw createStoppingError()
    if (this.#cutOff) throw createCutOffError()
    await new Promise<void>((resolve, reject) => {
      const back = () => {
        this.#onCutOff.delete(gone)
        this.#onConnected.delete(back)
        resolve()
      }
      const gone = (error: ServiceError) => {
        this.#onConnected.delete(back)
        reject(error)
      }
      this.#onConnected.add(back)
      this.#onCutOff.add(gone)
    })
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
    for (const listener of this.#onConnected) listener()
  }

  #disconnected(): void {
    this.#timer ??= setTimeout(() => {
      this.#cutOff = true
      this.#fail(createCutOffError())
    }, this.#cutOffMs)
  }

  #fail(error: ServiceError): void {
    const waiting = [...this.#onCutOff]
    this.#onCutOff.clear()
    for (const listener of waiting) listener(error)
  }
}

const createCutOffError = () => new ServiceError('unavailable', 'this process lost its connection to NATS')

const createStoppingError = () => new ServiceError('unavailable', 'this process is stopping')
