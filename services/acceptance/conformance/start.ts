import type { ServiceName } from '#proto/call.ts'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { systemClock } from '#shared/clock.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import type { Context } from '#shared/service.ts'
import { openStore } from '#shared/store/open.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { start as startGateway } from '../../gateway/service.ts'
import type { Further } from '../../mcp/protocol/server.ts'
import { startWith as startMcp } from '../../mcp/service.ts'
import { start as startQuery } from '../../query/service.ts'
import { start as startReport } from '../../report/service.ts'
import { startSandbox } from '../../sandbox/start.ts'

const facts = {
  instance: 'test',
  version: '1.2.3',
  services: ['query', 'report', 'mcp', 'gateway'],
  secretNames: [],
} as const

/** The product as whoever can reach it meets it. */
interface OpenProduct extends AsyncDisposable {
  url: string
  hostUrl: string
}

/** The product in this process, with one host; its tool server offers more when it is told to, which no variable can do. */
export const startOpenProduct = async (further?: Further): Promise<OpenProduct> => {
  await using opening = new AsyncDisposableStack()
  const sandbox = opening.use(await startSandbox())
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    COLUMNDB_HOST: sandbox.url,
    COLUMNDB_USER: 'default',
    // What would never end by itself ends while a test waits for it.
    COLUMNDB_MAX_EXECUTION_TIME: '5',
    SVC_MCP_PUBLIC: 'true',
    RATE_LIMIT_MCP_PER_MIN: '100000',
  }
  const telemetry = opening.use(await openTelemetry(env, facts, { write: () => {} }))
  const store = opening.use(await openStore({ env, busIsShared: false }))
  const net = opening.use(openNet({ env }))
  const hub = openMemoryHub()
  const openQueue = openMemoryQueues()
  const context = async (caller: ServiceName): Promise<Context> => {
    const own = telemetry.of(caller)
    const bus = opening.use(await openBus({ hub, caller, ...facts, telemetry: own }))
    const parts = { env, bus, store, net, telemetry: own, clock: systemClock, readiness: openReadiness() }
    return { ...parts, openQueue: () => openQueue(own.log) }
  }
  opening.use(await startQuery(await context('query')))
  opening.use(await startReport(await context('report')))
  opening.use(await startMcp(await context('mcp'), further))
  const { url = '' } = opening.use(await startGateway(await context('gateway')))
  const running = opening.move()
  return { url, hostUrl: sandbox.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
