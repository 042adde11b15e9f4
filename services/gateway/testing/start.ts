import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import { agent } from '#proto/agent.ts'
import { alerts } from '#proto/alerts.ts'
import type { ServiceName } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { DocText } from '#proto/http/docs.ts'
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
import { startWith } from '../service.ts'
import { openWebBuild } from '../web/built-web.ts'
import { fakeAgent } from './agent.ts'
import { fakeIngest, fakeMcp, fakeAlerts, fakeReport } from './owners.ts'
import { fakeQuery, type Heard, overheard, type QueryHandlers } from './query.ts'

interface Replaced {
  query?: Partial<QueryHandlers>
  /** Nothing serves `query` at all. */
  withoutQuery?: boolean
  /** Without it nothing serves `alert-dispatcher`. */
  alerts?: Partial<Handlers<typeof alerts>>
  /** Without it nothing serves `report`. */
  report?: Partial<Handlers<typeof report>>
  /** Without it nothing serves `mcp`. */
  mcp?: Partial<Handlers<typeof mcp>>
  /** Without it nothing serves `ingest`. */
  ingest?: Partial<Handlers<typeof ingest>>
  /** Without it nothing serves `agent`. */
  agent?: Partial<Handlers<typeof agent>>
  env?: Record<string, string>
  clock?: Clock
  tracer?: Tracer
  identify?: Gateway['identify']
  webDirectory?: string
  /** Served instead of those of the product. */
  routes?: readonly Route[]
  /** Ways out that lead elsewhere. */
  net?: Partial<Net>
  /** State that outlives this gateway, or is another's too. */
  store?: Store
}

/** A real gateway on a real bus in memory, in front of a `query` that serves its contract from constants. */
export interface FakeProduct extends AsyncDisposable {
  url: string
  /** What the gateway reads its settings from. */
  env: Record<string, string | undefined>
  heard: Heard[]
  /** What was logged, line by line. */
  logged: string[]
  metrics: Registry
  unmetNeeds(): string[]
  /** Stops the gateway alone. */
  stop(): Promise<void>
}

const facts = { instance: 'test', version: '1.2.3', services: ['gateway', 'query'], secretNames: [] }

export const startFake = async (replaced: Replaced = {}): Promise<FakeProduct> => {
  await using opening = new AsyncDisposableStack()
  const env: Record<string, string | undefined> = {
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'debug',
    SHUTDOWN_GRACE_MS: '2500',
    // A test of something else asks as often as it likes.
    RATE_LIMIT_API_PER_MIN: '1000000',
    ...replaced.env,
  }
  const clock = replaced.clock ?? systemClock
  const logged: string[] = []
  const heard: Heard[] = []

  const telemetry = opening.use(await openTelemetry(env, facts, { write: (line) => logged.push(line) }))
  const store = replaced.store ?? opening.use(await openStore({ env, busIsShared: false }))
  const hub = openMemoryHub()
  const open = async (caller: ServiceName) =>
    opening.use(
      await openBus({ hub, caller, instance: caller, version: facts.version, telemetry: telemetry.of(caller), clock }),
    )
  const bus = await open('gateway')
  for (const serving of await serveOwners(replaced, open, heard)) opening.use(serving)
  const readiness = openReadiness()
  const own = telemetry.of('gateway')
  const gatewayTelemetry = { ...own, tracer: replaced.tracer ?? own.tracer }
  const net = { ...opening.use(openNet({ env })), ...replaced.net }
  const context = { env, bus, store, openQueue: openMemoryQueues(), net, telemetry: gatewayTelemetry, clock, readiness }
  const web = openWebBuild(replaced.webDirectory ?? '/nowhere', context.telemetry.log)
  const gateway = opening.use(await startWith(context, web, replaced.identify, replaced.routes))

  const release = opening.move()
  return {
    url: gateway.url ?? '',
    env,
    heard,
    logged,
    metrics: telemetry.metrics,
    unmetNeeds: () => readiness.unmet(),
    stop: async () => gateway[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: async () => release.disposeAsync(),
  }
}

/** Serves what was asked for, each service on a bus of its own. */
const serveOwners = async (
  replaced: Replaced,
  open: (caller: ServiceName) => Promise<Bus>,
  heard: Heard[],
): Promise<AsyncDisposable[]> => {
  const served: AsyncDisposable[] = []
  // Its bus is there even when nothing is served on it.
  const queryBus = await open('query')
  if (!replaced.withoutQuery) {
    served.push(await queryBus.serve(query, overheard({ ...fakeQuery, ...replaced.query }, heard)))
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

/** A folder with a web that was built with these variables; whoever asks for it removes it. */
export const buildWebWith = async (client: BuildFacts['client']): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-web-'))
  const facts: BuildFacts = { version: '1.0.0', gitSha: null, gitRef: null, builtAt: null, client }
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>web</title>')
  await writeFile(join(folder, 'build.json'), JSON.stringify(facts))
  const docs: DocText[] = [{ id: 'getting-started', title: 'Getting started', text: '# Getting started\n\nRun it.\n' }]
  await writeFile(join(folder, '.docs.json'), JSON.stringify(docs))
  return folder
}
