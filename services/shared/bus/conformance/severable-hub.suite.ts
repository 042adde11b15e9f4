import type { ServiceInstance, Hub, PublishOptions, Subscription, Wire, WireMessage } from '../wire.ts'

/** A hub that simulates network failures. Messages in flight are lost, and both ends detect this late or never. */
export interface SeverableHub extends Hub {
  /** Disconnects all endpoints. */
  cut(): void
  mend(): void
  /** Disconnects one endpoint permanently and silently. */
  vanish(endpoint: ServiceInstance): Promise<void>
}

export const createSeverableHub = (inner: Hub): SeverableHub => {
  const wires = new Map<string, SeverableWire>()
  const nameOf = ({ caller, instance }: ServiceInstance) => `${caller}.${instance}`
  return {
    async connect(endpoint) {
      const wire = new SeverableWire(await inner.connect(endpoint))
      wires.set(nameOf(endpoint), wire)
      return wire
    },
    cut: () => wires.forEach((wire) => wire.change(false)),
    mend: () => wires.forEach((wire) => wire.change(true)),
    vanish: async (endpoint) => wires.get(nameOf(endpoint))?.vanish(),
  }
}

class SeverableWire implements Wire {
  readonly #inner: Wire
  readonly #listeners: ((connected: boolean) => void)[] = []
  #connected = true
  #vanished = false

  constructor(inner: Wire) {
    this.#inner = inner
  }

  get connected(): boolean {
    return this.#connected
  }

  get inbox(): string {
    return this.#inner.inbox
  }

  change(connected: boolean): void {
    this.#connected = connected
    for (const listener of this.#listeners) listener(connected)
  }

  async vanish(): Promise<void> {
    this.#vanished = true
    await this.#inner[Symbol.asyncDispose]()
  }

  publish(subject: string, body: Uint8Array, options?: PublishOptions): void {
    if (this.#connected && !this.#vanished) this.#inner.publish(subject, body, options)
  }

  subscribe(pattern: string, listener: (message: WireMessage) => void, queueGroup?: string): Subscription {
    const hear = (message: WireMessage) => void (this.#connected && !this.#vanished && listener(message))
    return this.#inner.subscribe(pattern, hear, queueGroup)
  }

  flush(): Promise<void> {
    return this.#inner.flush()
  }

  onConnection(listener: (connected: boolean) => void): void {
    this.#listeners.push(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]()
  }
}
