import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import { agent } from '#proto/agent.ts'
import { alerts } from '#proto/alerts.ts'
import type { ServiceName } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import type { DocPage } from '#proto/http/docs.ts'
import { ingest } from '#proto/ingest.ts'
import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import type { Bus } from '#shared/bus/bus.ts'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { type Clock, systemClock } from '#shared/time/clock.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { type Net, openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { Tracer } from '#shared/telemetry/telemetry.ts'
import type { Gateway } from '../gateway.ts'
import type { Route } from '../http-route.ts'
import { startGatewayService } from '../service.ts'
import { openWebBuild } from '../web/web-build.ts'
import { fakeAgent } from './agent.ts'
import { fakeIngest, fakeMcp, fakeAlerts, fakeReport } from './fake-services.ts'
import { fakeQuery, type RecordedCall, recordCalls, type QueryHandlers } from './query.ts'

interface StartFakeOptions {
  query?: Partial<QueryHandlers>
  /** Starts no `query` service. */
  withoutQuery?: boolean
  /** Handlers of `alert-dispatcher`; the service is not started without them. */
  alerts?: Partial<ServiceHandlers<typeof alerts>>
  /** Handlers of `report`; the service is not started without them. */
  report?: Partial<ServiceHandlers<typeof report>>
  /** Handlers of `mcp`; the service is not started without them. */
  mcp?: Partial<ServiceHandlers<typeof mcp>>
  /** Handlers of `ingest`; the service is not started without them. */
  ingest?: Partial<ServiceHandlers<typeof ingest>>
  /** Handlers of `agent`; the service is not started without them. */
  agent?: Partial<ServiceHandlers<typeof agent>>
  env?: Record<string, string>
  clock?: Clock
  tracer?: Tracer
  identify?: Gateway['identify']
  webDirectory?: string
  /** Replaces the routes of the product. */
  routes?: readonly Route[]
  /** Overrides parts of the HTTP client. */
  net?: Partial<Net>
  /** A store that outlives this gateway or is shared with another. */
  store?: Store
}

/** A real gateway on a real in-memory bus, with a `query` service that returns constants. */
export interface FakeProduct extends AsyncDisposable {
  url: string
  /** The environment of the gateway; changes take effect at once. */
  env: Record<string, string | undefined>
  received: RecordedCall[]
  /** Lines of the log. */
  logged: string[]
  metrics: Registry
  unmetNeeds(): string[]
  /** Stops only the gateway. */
  stop(): Promise<void>
}

const facts = { instance: 'test', version: '1.2.3', services: ['gateway', 'query'], secretNames: [] }

export const startFakeProduct = async (replaced: StartFakeOptions = {}): Promise<FakeProduct> => {
  await using opening = new AsyncDisposableStack()
  const env: Record<string, string | undefined> = {
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'debug',
    SHUTDOWN_GRACE_MS: '2500',
    // Rate limits must not affect other tests.
    RATE_LIMIT_API_PER_MIN: '1000000',
    ...replaced.env,
  }
  const clock = replaced.clock ?? systemClock
  const logged: string[] = []
  const received: RecordedCall[] = []

  const telemetry = opening.use(await openTelemetry(env, facts, { write: (line) => logged.push(line) }))
  const store = replaced.store ?? opening.use(await openStore({ env, busIsShared: false }))
  const hub = openMemoryHub()
  const open = async (caller: ServiceName) =>
    opening.use(
      await openBus({ hub, caller, instance: caller, version: facts.version, telemetry: telemetry.of(caller), clock }),
    )
  const bus = await open('gateway')
  for (const serving of await serveOwners(replaced, open, received)) opening.use(serving)
  const readiness = openReadiness()
  const own = telemetry.of('gateway')
  const gatewayTelemetry = { ...own, tracer: replaced.tracer ?? own.tracer }
  const net = { ...opening.use(openNet({ env })), ...replaced.net }
  const context = { env, bus, store, openQueue: openMemoryQueues(), net, telemetry: gatewayTelemetry, clock, readiness }
  const web = openWebBuild(replaced.webDirectory ?? '/nowhere', context.telemetry.log)
  const gateway = opening.use(await startGatewayService(context, web, replaced.identify, replaced.routes))

  const release = opening.move()
  return {
    url: gateway.url ?? '',
    env,
    received,
    logged,
    metrics: telemetry.metrics,
    unmetNeeds: () => readiness.unmet(),
    stop: async () => gateway[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: async () => release.disposeAsync(),
  }
}

/** Starts the requested services, each on its own bus. */
const serveOwners = async (
  replaced: StartFakeOptions,
  open: (caller: ServiceName) => Promise<Bus>,
  received: RecordedCall[],
): Promise<AsyncDisposable[]> => {
  const served: AsyncDisposable[] = []
  // The bus exists even if the service is not started.
  const queryBus = await open('query')
  if (!replaced.withoutQuery) {
    served.push(await queryBus.serve(query, recordCalls({ ...fakeQuery, ...replaced.query }, received)))
  }
  if (replaced.alerts) {
    served.push(await (await open('alert-dispatcher')).serve(alerts, { ...fakeAlerts, ...replaced.alerts }))
  }
  if (replaced.report) served.push(await (await open('report')).serve(report, { ...fakeReport, ...replaced.report }))
  if (replaced.mcp) served.push(await (await open('mcp')).serve(mcp, { ...fakeMcp, ...replaced.mcp }))
  if (replaced.ingest) served.push(await (await open('ingest')).serve(ingest, { ...fakeIngest, ...replaced.ingest }))
  if (replaced.agent) served.push(await (await open('agent')).serve(agent, { ...fakeAgent, ...replaced.agent }))
  return served
}

/** Creates a temporary folder with a web build that has these variables; the caller must delete it. */
export const createWebBuild = async (client: BuildInfo['client']): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-web-'))
  const facts: BuildInfo = { version: '1.0.0', gitSha: null, gitRef: null, builtAt: null, client }
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>web</title>')
  await writeFile(join(folder, 'build.json'), JSON.stringify(facts))
  const docs: DocPage[] = [{ id: 'getting-started', title: 'Getting started', text: '# Getting started\n\nRun it.\n' }]
  await writeFile(join(folder, '.docs.json'), JSON.stringify(docs))
  return folder
}
