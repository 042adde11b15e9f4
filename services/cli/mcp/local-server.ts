import type { Writable } from 'node:stream'
import { alerts } from '#proto/alerts.ts'
import type { CallContext } from '#proto/call.ts'
import { maxMcpBodyBytes, mcp, mcpRequestHeaders } from '#proto/mcp.ts'
import type { Bus } from '#shared/bus/bus.ts'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import type { ServiceStarter } from '#shared/lifecycle/service.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import { start as startAgent } from '../../agent/service.ts'
import { start as startAlerts } from '../../alert-dispatcher/service.ts'
import { start as startIngest } from '../../ingest/service.ts'
import { start as startMcp } from '../../mcp/service.ts'
import { start as startQuery } from '../../query/service.ts'
import { start as startReport } from '../../report/service.ts'
import type { RelayTarget } from './relay.ts'

/** The ClickHouse host that the tools of this process read. */
export interface LocalHost {
  url: URL
  user: string
  password: string
}

interface LocalServerOptions {
  host: LocalHost
  version: string
  /** The variables of the process, of which only a few apply. */
  variables: Readonly<Record<string, string | undefined>>
  /** Receives warnings and errors. */
  log: Writable
}

/** The services that tools call, each after those that it calls itself. */
const services: readonly (readonly [
  'query' | 'alert-dispatcher' | 'ingest' | 'report' | 'agent' | 'mcp',
  ServiceStarter,
])[] = [
  ['query', startQuery],
  ['alert-dispatcher', startAlerts],
  ['ingest', startIngest],
  ['report', startReport],
  ['agent', startAgent],
  ['mcp', startMcp],
]

/** Variables that also apply without a server. */
const passedVariables = ['COLUMNDB_MAX_EXECUTION_TIME', 'SVC_OTEL_EXPORTER_URL']
const callTimeoutMs = 75_000
/** The caller is the user of this machine, who also has the credentials of the host. */
const identity: CallContext['identity'] = { kind: 'user', subject: 'local', features: 'all' }

/** Starts the services in this process, without storage, and returns their MCP endpoint. They only read from the host. */
export const openLocalServer = async (options: LocalServerOptions): Promise<RelayTarget & AsyncDisposable> => {
  await using opening = new AsyncDisposableStack()
  const env = createEnvironment(options)
  const names = services.map(([name]) => name)
  const facts = {
    instance: 'watchhouse-mcp',
    version: options.version,
    services: names,
    secretNames: ['COLUMNDB_PASSWORD'],
  }
  const telemetry = opening.use(await openTelemetry(env, facts, { write: (line) => void options.log.write(line) }))
  const store = opening.use(await openStore({ env, busIsShared: false }))
  const net = opening.use(openNet({ env }))
  const hub = openMemoryHub()
  const openQueue = openMemoryQueues()
  const readiness = openReadiness()
  for (const [caller, start] of services) {
    const own = telemetry.of(caller)
    const bus = opening.use(await openBus({ hub, caller, ...facts, telemetry: own }))
    const context = { env, bus, store, net, telemetry: own, clock: systemClock, readiness }
    opening.use(await start({ ...context, openQueue: () => openQueue(own.log) }))
  }
  const bus = opening.use(await openBus({ hub, caller: 'gateway', ...facts }))
  const client = bus.client(mcp)
  evaluateRules(bus)
  const running = opening.move()
  return {
    url: new URL('http://watchhouse.invalid/api/mcp'),
    async fetch(_input, init = {}) {
      const body = typeof init.body === 'string' ? init.body : ''
      if (Buffer.byteLength(body) > maxMcpBodyBytes) throw new Error(`the message exceeds ${maxMcpBodyBytes} bytes`)
      const method = init.method === 'GET' || init.method === 'DELETE' ? init.method : 'POST'
      const deadline = systemClock.elapsedMs() + callTimeoutMs
      const signal = init.signal ?? new AbortController().signal
      const call: CallContext = { identity, deadline, signal, priority: 'person' }
      const { head, frames } = await client.http({ method, headers: selectHeaders(init.headers), body }, call)
      const responseBody = head.status === noContent || head.status === accepted ? null : ReadableStream.from(frames)
      return new Response(responseBody, { status: head.status, headers: head.headers })
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Starts the first sweep at once, because the schedule begins after its interval. Its failure is in the log. */
const evaluateRules = (bus: Bus): void => {
  const { signal } = new AbortController()
  const deadline = systemClock.elapsedMs() + callTimeoutMs
  bus
    .client(alerts)
    .sweep({}, { identity, deadline, signal, priority: 'sweep' })
    .catch(() => undefined)
}

const accepted = 202
const noContent = 204

/** Returns the settings of the services. No setting lets them write to the host or notify recipients. */
const createEnvironment = ({ host, variables }: LocalServerOptions): Record<string, string> => ({
  LOG_LEVEL: 'warn',
  LOG_PRETTY: 'false',
  COLUMNDB_HOST: host.url.href,
  COLUMNDB_USER: host.user,
  COLUMNDB_PASSWORD: host.password,
  COLUMNDB_NAME: host.url.hostname,
  SVC_HEALTH_SWEEP_ENABLED: 'true',
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '5',
  INSIGHTS_STORE_BACKEND: 'memory',
  CONVERSATION_STORE_BACKEND: 'memory',
  ...Object.fromEntries(
    passedVariables.flatMap((name): [string, string][] => {
      const value = variables[name]
      return value === undefined ? [] : [[name, value]]
    }),
  ),
})

const selectHeaders = (given: RequestInit['headers']): Record<string, string> => {
  const headers = new Headers(given)
  return Object.fromEntries(
    mcpRequestHeaders.flatMap((name): [string, string][] => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}
