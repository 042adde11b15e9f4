import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceName } from '#proto/call.ts'
import { startNats } from '../../../testing/describe-with.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Bus, ServeOptions } from '../bus.ts'
import type { BusLimits } from '../limits.ts'
import { openBus, openMemoryHub, openNatsHub } from '../open.ts'
import { type ProbeRecord, probe, createProbeHandlers } from './probe.suite.ts'
import { createSeverableHub } from './severable-hub.suite.ts'
import type { Hub } from '../wire.ts'

/** One kind of bus under test. */
export interface BusImplementation {
  name: string
  needs: readonly 'nats'[]
  start(): Promise<Network>
}

/** The network between the buses of a test. Its methods simulate failures. */
export interface Network extends AsyncDisposable {
  hub: Hub
  /** Disconnects all endpoints until `mend` is called. */
  cut(): Promise<void>
  mend(): Promise<void>
  /** Serves the probe in a process that can be killed. */
  startKillable(instance: string): Promise<{ kill(): Promise<void> }>
}

const memory: BusImplementation = {
  name: 'memory',
  needs: [],
  async start() {
    const hub = createSeverableHub(openMemoryHub())
    return {
      hub,
      cut: async () => hub.cut(),
      mend: async () => hub.mend(),
      async startKillable(instance) {
        const bus = await openBus({ hub, caller: 'query', instance, version: 'test' })
        await bus.serve(probe, createProbeHandlers(instance).handlers)
        return { kill: () => hub.vanish({ caller: 'query', instance }) }
      },
      [Symbol.asyncDispose]: async () => {},
    }
  },
}

const nats: BusImplementation = {
  name: 'NATS',
  needs: ['nats'],
  async start() {
    const server = await startNats({ private: true })
    return {
      hub: openNatsHub({ url: server.url }),
      cut: () => server.kill(),
      mend: () => server.restart(),
      startKillable: (instance) => startChild(server.url, instance),
      [Symbol.asyncDispose]: () => server.stop(),
    }
  },
}

const startChild = async (url: string, instance: string): Promise<{ kill(): Promise<void> }> => {
  const file = join(import.meta.dirname, 'probe-server.suite.ts')
  const child = spawn(process.execPath, [file, url, instance], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** All kinds of buses. */
export const busImplementations: readonly BusImplementation[] = [memory, nats]

/** Limits with which a producer stops only when it is cancelled. */
export const neverStarvedLimits: Partial<BusLimits> = { starvedMs: 600_000 }

/** Resources of one test, released after it. */
export class BusTestContext implements AsyncDisposable {
  readonly network: Network
  readonly #opened: AsyncDisposable[] = []
  readonly #killable: { kill(): Promise<void> }[] = []

  constructor(network: Network) {
    this.network = network
  }

  async open(
    caller: ServiceName,
    options: { instance?: string; limits?: Partial<BusLimits>; telemetry?: Telemetry } = {},
  ): Promise<Bus> {
    const instance = options.instance ?? `${caller}-${this.#opened.length}`
    const bus = await openBus({ hub: this.network.hub, caller, version: 'test', ...options, instance })
    this.#opened.push(bus)
    return bus
  }

  /** Opens a bus and serves the probe on it. */
  async serve(
    instance: string,
    options: ServeOptions & { limits?: Partial<BusLimits>; telemetry?: Telemetry } = {},
  ): Promise<{ bus: Bus; seen: ProbeRecord }> {
    const bus = await this.open('query', { instance, ...options })
    const { handlers, seen } = createProbeHandlers(instance)
    await bus.serve(probe, handlers, options)
    return { bus, seen }
  }

  async startKillable(instance: string): Promise<{ kill(): Promise<void> }> {
    const killable = await this.network.startKillable(instance)
    this.#killable.push(killable)
    return killable
  }

  /** Disposes a resource after the test. */
  release(opened: AsyncDisposable): void {
    this.#opened.push(opened)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Callers close before servers, so that their calls end first.
    for (const opened of this.#opened.toReversed()) await opened[Symbol.asyncDispose]()
    for (const { kill } of this.#killable) await kill()
  }
}

/** Timeout for a busy machine; waiting longer never makes a wrong test pass. */
const untilWithinMs = 30_000

/** Waits until a condition holds; fails after the timeout. */
export const waitUntil = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + untilWithinMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`condition not met after ${untilWithinMs} ms: ${isSo.toString()}`)
    await wait(5)
  }
}
