import type { ServiceName } from '#proto/call.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Bus } from './bus.ts'
import { openInbox } from './inbox.ts'
import { type BusLimits, defaultBusLimits } from './limits.ts'
import { ConnectionMonitor } from './connection-monitor.ts'
import type { RequestSigner } from './signatures.ts'
import { instanceNamePattern } from './subject.ts'
import { type BusParameters, WireBus } from './wire-bus.ts'
import type { Hub } from './wire.ts'

export { type MemoryHub, openMemoryHub } from './memory-wire.ts'
export type { NatsHubOptions } from './nats-connection.ts'
export { openNatsHub } from './nats-wire.ts'
export type { Hub } from './wire.ts'

/** Options of a bus. */
export interface BusOptions {
  /** `openMemoryHub()`, shared by every bus of the process, or `openNatsHub({ url })`. */
  hub: Hub
  caller: ServiceName
  /** Lower-case letters, digits and dashes, at most 64. */
  instance: string
  /** Version of the product, announced to the other instances. */
  version: string
  /** Signs and verifies requests; without it every service is trusted. */
  signatures?: RequestSigner | undefined
  telemetry?: Telemetry
  clock?: Clock
  limits?: Partial<BusLimits>
}

/** Opens the bus of one service; disposing it finishes the calls in flight, then disconnects. */
export const openBus = async ({ hub, caller, instance, version, ...rest }: BusOptions): Promise<Bus> => {
  if (!instanceNamePattern.test(instance))
    throw new Error(`invalid instance name "${instance}"; use 1 to 64 lower-case letters, digits and dashes`)
  const limits = { ...defaultBusLimits, ...rest.limits }
  const wire = await hub.connect({ caller, instance })
  const link = new ConnectionMonitor(wire, limits.cutOffMs)
  const { signatures } = rest
  const channel = {
    wire,
    inbox: openInbox(wire),
    link,
    limits,
    signatures,
    reading: { streams: 0 },
    sent: { requests: 0 },
  }
  const facts: BusParameters = {
    caller,
    instance,
    version,
    telemetry: rest.telemetry,
    clock: rest.clock ?? systemClock,
  }
  const bus = new WireBus(facts, channel)
  await bus.meet()
  return bus
}
