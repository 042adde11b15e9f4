import type { z } from 'zod'
import type { ServiceName } from '#proto/call.ts'
import type { ServiceClient, BusEvent, ServiceHandlers, Service } from '#proto/contract.ts'
import { instanceAnnounced, instancesRequested } from '#proto/instance.ts'
import type { Clock } from '../time/clock.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Bus, ServeOptions, ServedContract } from './bus.ts'
import { createClient } from './client.ts'
import { EventChannel } from './events.ts'
import type { BusChannel } from './exchange.ts'
import { InstanceRegistry } from './instances.ts'
import { Placement } from './placement.ts'
import { type CallObserver, createCallObserver } from './call-observer.ts'
import { type Handler, ContractServer } from './serve.ts'
import type { Wire } from './wire.ts'

/** The identity of a service on the bus, and the dependencies of its bus. */
export interface BusParameters {
  caller: ServiceName
  instance: string
  version: string
  telemetry: Telemetry | undefined
  clock: Clock
}

/** The implementation of `Bus`, which works with every transport. */
export class WireBus implements Bus {
  readonly #facts: BusParameters
  readonly #channel: BusChannel
  readonly #events: EventChannel
  readonly #instances: InstanceRegistry
  readonly #observer: CallObserver
  readonly #placements = new Map<ServiceName, Placement>()
  readonly #servings = new Set<ServedContract>()

  constructor(facts: BusParameters, channel: BusChannel) {
    this.#facts = facts
    this.#channel = channel
    this.#events = new EventChannel(channel.wire, facts.caller, channel.limits, facts.telemetry?.log)
    this.#instances = new InstanceRegistry(channel.limits, () => performance.now())
    this.#observer = createCallObserver(facts.telemetry)
  }

  get caller(): ServiceName {
    return this.#facts.caller
  }

  get instance(): string {
    return this.#facts.instance
  }

  get connected(): boolean {
    return !this.#channel.link.isCutOff
  }

  /** Listens to announcements and requests them from all instances. */
  async meet(): Promise<void> {
    await this.#events.on(instanceAnnounced, (announced, sender) => this.#instances.hear(announced, sender))
    this.emit(instancesRequested, {})
  }

  client<S extends Service>(contract: S): ServiceClient<S> {
    const { caller, clock } = this.#facts
    const calling = { channel: this.#channel, instances: this.#instances, observer: this.#observer, caller, clock }
    return createClient({ ...calling, placement: this.#placementOf(contract.name) }, contract)
  }

  /** Returns the placement that all clients of a service share. */
  #placementOf(service: ServiceName): Placement {
    const placement = this.#placements.get(service) ?? new Placement()
    this.#placements.set(service, placement)
    return placement
  }

  async serve<S extends Service>(
    contract: S,
    handlers: ServiceHandlers<S>,
    options: ServeOptions = {},
  ): Promise<ServedContract> {
    const { caller, instance, version, clock, telemetry } = this.#facts
    if (contract.name !== caller)
      throw new Error(`the bus of service "${caller}" cannot serve the contract "${contract.name}"`)
    const { wire, limits } = this.#channel
    const context = { channel: this.#channel, instance, clock, observer: this.#observer, log: telemetry?.log }
    // The type of `handlers` matches the contract; each handler only receives input parsed by its schema.
    const checked = handlers as Readonly<Record<string, Handler>>
    const { maxInFlight = limits.maxInFlight, part = 'all' } = options
    const server = new ContractServer(context, contract, checked, { maxInFlight, part })
    await wire.flush()
    const presence = () => ({ service: caller, instance, version, load: options.load?.() ?? server.load, part })
    const announced = await announce({ events: this.#events, wire, presence, everyMs: limits.announceEveryMs })
    const serving: ServedContract = {
      get load() {
        return server.load
      },
      [Symbol.asyncDispose]: async () => {
        if (!this.#servings.delete(serving)) return
        await announced[Symbol.asyncDispose]()
        await server[Symbol.asyncDispose]()
      },
    }
    this.#servings.add(serving)
    return serving
  }

  emit<P extends z.ZodType>(event: BusEvent<P>, payload: z.input<P>): void {
    this.#events.emit(event, payload)
  }

  on<P extends z.ZodType>(event: BusEvent<P>, listener: (payload: z.output<P>) => void): Promise<AsyncDisposable> {
    return this.#events.on(event, listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servings].map((serving) => serving[Symbol.asyncDispose]()))
    this.#channel.link.close()
    await this.#channel.wire[Symbol.asyncDispose]()
  }
}

/** A function that returns an announcement without `leaving`. It is called for each one, because the load changes. */
type Presence = () => Omit<z.input<typeof instanceAnnounced.payload>, 'leaving'>

interface Announcing {
  events: EventChannel
  wire: Wire
  presence: Presence
  everyMs: number
}

/**
 * Announces an instance immediately, periodically, on request, and when its connection is restored, because callers forget
 * a disconnected instance. Disposing announces that the instance leaves.
 */
const announce = async ({ events, wire, presence, everyMs }: Announcing): Promise<AsyncDisposable> => {
  let isLeaving = false
  const announce = (leaving: boolean) => events.emit(instanceAnnounced, { ...presence(), leaving })
  wire.onConnection((connected) => {
    if (connected && !isLeaving) announce(false)
  })
  const sought = await events.on(instancesRequested, () => announce(false))
  announce(false)
  const timer = setInterval(() => announce(false), everyMs)
  return {
    async [Symbol.asyncDispose]() {
      isLeaving = true
      clearInterval(timer)
      await sought[Symbol.asyncDispose]()
      announce(true)
    },
  }
}
