import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import { openBus, openMemoryHub, openNatsHub } from '#shared/bus/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import type { ServiceContext, RunningService } from '#shared/lifecycle/service.ts'
import { openStore } from '#shared/store/open.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { start as startGateway } from '../../gateway/service.ts'
import type { AdditionalTools } from '../../mcp/protocol/server.ts'
import { startMcpService as startMcp } from '../../mcp/service.ts'
import { start as startQuery } from '../../query/service.ts'
import { start as startReport } from '../../report/service.ts'

/** The services that an MCP request needs, each after the services that it calls. */
const startOrder = ['query', 'report', 'mcp', 'gateway'] as const
type Name = (typeof startOrder)[number]

interface ServicesOptions {
  /** Services to start. Default: all that an MCP request needs. */
  names?: readonly string[]
  env: Record<string, string>
  /** Tools, resources and prompts in addition to those of the product. No setting can add them. */
  further?: AdditionalTools | undefined
}

/** Starts services in this process and discards their logs. Uses NATS if `NATS_URL` is set. */
export const startServices = async ({ names = startOrder, env, further }: ServicesOptions): Promise<RunningService> => {
  await using opening = new AsyncDisposableStack()
  const facts = { instance: `test-${names.join('-')}`, version: '1.2.3', services: startOrder, secretNames: [] }
  const telemetry = opening.use(await openTelemetry(env, facts, { write: () => {} }))
  const store = opening.use(await openStore({ env, busIsShared: false }))
  const net = opening.use(openNet({ env }))
  const { NATS_URL: nats } = env
  const hub = nats === undefined ? openMemoryHub() : openNatsHub({ url: nats, log: telemetry.log })
  const openQueue = openMemoryQueues()
  const context = async (caller: Name): Promise<ServiceContext> => {
    const own = telemetry.of(caller)
    const bus = opening.use(await openBus({ hub, caller, ...facts, telemetry: own }))
    const parts = { env, bus, store, net, telemetry: own, clock: systemClock, readiness: openReadiness() }
    return { ...parts, openQueue: () => openQueue(own.log) }
  }
  const starts = {
    query: startQuery,
    report: startReport,
    mcp: (own: ServiceContext) => startMcp(own, further),
    gateway: startGateway,
  }
  let url: string | undefined
  for (const name of startOrder.filter((each) => names.includes(each))) {
    const running = opening.use(await starts[name](await context(name)))
    url ??= running.url
  }
  const running = opening.move()
  return { ...(url !== undefined && { url }), [Symbol.asyncDispose]: () => running.disposeAsync() }
}
