import { setTimeout as wait } from 'node:timers/promises'
import { startSandbox } from '../../sandbox/start.ts'
import { fetchJson } from '../../testing/fetch-json.ts'
import { HostException, type InspectRequest, startHostProxy } from '../../testing/host-proxy.ts'
import { formatHostVariables } from '../../testing/product.ts'
import { type ProductProcess, startProcess } from '../../testing/product/product-process.ts'
import { startNats, startPostgres, startRedis, type TestServer } from '../../testing/describe-with.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import { type Prometheus, type ScrapeTarget, startPrometheus } from '../../testing/servers/prometheus.ts'
import { type Receiver, startReceiver } from './breakable-product.ts'
import { type AlertRule } from './scaled-alerts.ts'

const ingestToken = 'token of the senders'
const cronSecret = 'secret of the scheduler that triggers sweeps'

/** The Deployments of the chart: component and service. */
const components = {
  query: 'query',
  'query-guest': 'query',
  report: 'report',
  mcp: 'mcp',
  'alert-dispatcher': 'alert-dispatcher',
  ingest: 'ingest',
  agent: 'agent',
  gateway: 'gateway',
} as const

export type Component = keyof typeof components

/** How the hosts respond to statements. */
export interface HostBehavior {
  /** Called for each statement; see `startHostProxy`. Undefined: all statements are forwarded. */
  inspect: InspectRequest | undefined
}

/** The product with one process per component, as in the chart, and a Prometheus that scrapes it under light load. */
export interface ScrapedProduct extends AsyncDisposable {
  readonly url: string
  readonly prometheus: Prometheus
  readonly processes: Readonly<Record<Component, ProductProcess>>
  readonly servers: Readonly<Record<'nats' | 'redis' | 'postgres', TestServer>>
  readonly receiver: Receiver
  readonly hosts: HostBehavior
  /** Whether the test requests sweeps. */
  isSweeping: boolean
  /** Starts a process with another version. Disposing stops it. */
  startOtherVersion(): Promise<AsyncDisposable>
  /** Sends inbound events without waiting for their processing. */
  sendEvents(count: number): Promise<void>
}

export const startScrapedProduct = async (rules: readonly AlertRule[]): Promise<ScrapedProduct> => {
  await using scope = new AsyncDisposableStack()
  const servers = await startServers(scope)
  const receiver = scope.use(await startReceiver())
  const hosts: HostBehavior = { inspect: undefined }
  const port = await reserveFreePort()
  const variables = { ...createSettings(servers, receiver.url), PORT: String(port) }
  const hostVariables = formatHostVariables(await startHosts(scope, hosts))
  const targets: ScrapeTarget[] = []
  const start = async (component: Component) => {
    const operationsPort = await reserveFreePort()
    targets.push({ address: `127.0.0.1:${operationsPort}`, labels: labelsOf(component) })
    const more = { ...(component === 'query' && hostVariables), ...roles[component] }
    const options = { services: [components[component]], variables: { ...variables, ...more }, operationsPort }
    return scope.use(await startProcess(options))
  }
  const processes = await startEach(start)
  const other = await reserveFreePort()
  targets.push({ address: `127.0.0.1:${other}`, labels: { ...labelsOf('report'), pod: 'watchhouse-report-other' } })
  const url = `http://127.0.0.1:${port}`
  // The number of rules without data is 0 before the first sweep, which Prometheus must not count as usual.
  await requestSweep(url)
  const prometheus = scope.use(await startPrometheus({ targets, rules: { groups: [{ name: 'watchhouse', rules }] } }))
  const preload = 'services/acceptance/faults/run-as-next-version.ts'
  const product = {
    url,
    prometheus,
    processes,
    servers,
    receiver,
    hosts,
    isSweeping: true,
    startOtherVersion: () => startProcess({ services: ['report'], variables, operationsPort: other, preload }),
    sendEvents: (count: number) => sendEvents(url, count),
  }
  scope.use(startTraffic(product))
  const running = scope.move()
  return Object.assign(product, { [Symbol.asyncDispose]: () => running.disposeAsync() })
}

const roles: Readonly<Partial<Record<Component, Record<string, string>>>> = {
  query: { SVC_QUERY_ROLE: 'own' },
  'query-guest': { SVC_QUERY_ROLE: 'guest' },
}

const startServers = async (scope: AsyncDisposableStack): Promise<ScrapedProduct['servers']> => {
  const [nats, redis, postgres] = await Promise.all([
    startNats({ private: true }),
    startRedis({ private: true }),
    startPostgres({ private: true }),
  ])
  for (const server of [nats, redis, postgres]) scope.use(server)
  return { nats, redis, postgres }
}

/** Starts the processes one after another. The gateway is last, so that it finds the others. */
const startEach = async (
  start: (component: Component) => Promise<ProductProcess>,
): Promise<Record<Component, ProductProcess>> => ({
  query: await start('query'),
  'query-guest': await start('query-guest'),
  report: await start('report'),
  mcp: await start('mcp'),
  'alert-dispatcher': await start('alert-dispatcher'),
  ingest: await start('ingest'),
  agent: await start('agent'),
  gateway: await start('gateway'),
})

const createSettings = (servers: ScrapedProduct['servers'], receiver: string): Record<string, string> => ({
  NATS_URL: servers.nats.url,
  REDIS_URL: servers.redis.url,
  SVC_STATE_DB_URL: servers.postgres.url,
  HOST: '127.0.0.1',
  OPS_URL: receiver,
  SVC_EVENTS_INGEST_TOKEN: ingestToken,
  // The address is internal, so each forwarding fails at once, and its metric has data.
  SVC_EVENTS_REEMIT_WEBHOOK_URL: 'https://127.0.0.1:9/events',
  SVC_MCP_PUBLIC: 'true',
  // Nothing listens there, so all spans are lost, and the metric of spans has data.
  SVC_OTEL_EXPORTER_URL: 'http://127.0.0.1:9/v1/traces',
  CRON_SECRET: cronSecret,
  HEALTH_ALERT_ENABLED: 'true',
  HEALTH_ALERT_WEBHOOK_TARGETS: JSON.stringify([{ name: 'ops', urlEnv: 'OPS_URL', format: 'raw' }]),
  SVC_HEALTH_SWEEP_ENABLED: 'true',
  // 0 disables periodic sweeps, so that sweeps run only when the test requests them, as a CronJob does.
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
  // Each statement reaches the host, so that a fault of the host affects each request.
  SVC_QUERY_CACHE: 'off',
  RATE_LIMIT_API_PER_MIN: '1000000',
  RATE_LIMIT_MCP_PER_MIN: '1000000',
  RATE_LIMIT_INGEST_PER_MIN: '1000000',
})

/** Returns the labels that the PodMonitor of the chart adds to the metrics of a component. */
const labelsOf = (component: Component): Record<string, string> => ({
  job: 'watchhouse/watchhouse',
  namespace: 'watchhouse',
  pod: `watchhouse-${component}-0`,
  container: component,
  endpoint: 'operations',
})

/** Starts two hosts, whose statements pass a proxy. */
const startHosts = async (scope: AsyncDisposableStack, behavior: HostBehavior) => {
  const sandbox = scope.use(await startSandbox({ seed: false }))
  const inspect: InspectRequest = async (body, url) => (behavior.inspect ? behavior.inspect(body, url) : body)
  const proxies = await Promise.all([startHostProxy(sandbox.url, inspect), startHostProxy(sandbox.url, inspect)])
  for (const proxy of proxies) scope.use(proxy)
  return proxies.map(({ url }, index) => ({ url, name: index === 0 ? 'one' : 'two' }))
}

/** Returns whether a statement belongs to the light load of the test. */
export const isTrafficStatement = (body: Buffer, url: string): boolean =>
  /FROM system\.settings\b/.test(`${decodeURIComponent(url)} ${body.toString()}`)

/** The reply of a host without free memory. */
export const memoryLimitException = new HostException(241, 'MEMORY_LIMIT_EXCEEDED')

const pageEveryMs = 250
const sweepEveryMs = 2_000
const eventEveryMs = 2_000
const toolEveryMs = 3_000

/** Sends requests of all kinds until disposed. Their failures do not matter: Prometheus counts them. */
const startTraffic = (product: Pick<ScrapedProduct, 'url' | 'isSweeping'>): AsyncDisposable => {
  const stop = new AbortController()
  const repeat = async (everyMs: number, send: (turn: number) => Promise<unknown>) => {
    for (let turn = 0; !stop.signal.aborted; turn++) {
      await send(turn).catch(() => {})
      await wait(everyMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  }
  const { url } = product
  const running = [
    repeat(pageEveryMs, (turn) => fetchJson(`${url}/api/v1/tables/settings?hostId=${turn % 2}&limit=1`)),
    repeat(sweepEveryMs, async () => {
      if (product.isSweeping) await requestSweep(url)
    }),
    repeat(eventEveryMs, (turn) => sendEvent(url, Math.floor(turn / 2), turn % 2 === 0 ? 'firing' : 'resolved')),
    repeat(toolEveryMs, () => callTool(url)),
  ]
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(running)
    },
  }
}

const requestSweep = (url: string) =>
  fetchJson(`${url}/api/cron/health-sweep`, { headers: { authorization: `Bearer ${cronSecret}` } })

const callTool = (url: string) =>
  fetchJson(`${url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_databases', arguments: {} },
    }),
  })

const sendEvent = (url: string, number: number, status: string, severity = 'critical') =>
  fetchJson(`${url}/api/events/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ingestToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      id: `event-${number}-${status}-${severity}`,
      source: 'test',
      dedupKey: `event-${number}`,
      title: `alert-${number}`,
      status,
      severity,
    }),
  })

const senders = 16
let lastEvent = 1_000_000

/** Events of status `info` open no condition, so they cause no notifications. */
const sendEvents = async (url: string, count: number): Promise<void> => {
  let left = count
  const send = async () => {
    while (left-- > 0) await sendEvent(url, ++lastEvent, 'info', 'info')
  }
  await Promise.all(Array.from({ length: senders }, send))
}
