import { createServer } from 'node:http'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { AlertStateResponse, HistoryResponse } from '#proto/http/alerts.ts'
import { DeliveriesResponse } from '#proto/http/deliveries.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { startHttpStub } from '../../query/testing/stub-host.ts'
import { fetchJson, retryUntil } from '../../testing/fetch-json.ts'
import { formatHostVariables } from '../../testing/product.ts'
import { type ProductProcess, startProcess } from '../../testing/product/product-process.ts'
import { type TestServer, startNats, startPostgres, startRedis } from '../../testing/describe-with.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'

const token = 'token of the senders'
const cronSecret = 'secret of the scheduler that triggers sweeps'

const RawMessage = z.object({
  event: z.string(),
  title: z.string(),
  conditions: z.array(z.object({ event: z.string(), title: z.string() })).optional(),
})

/** A webhook that records notifications. */
export interface Receiver extends AsyncDisposable {
  url: string
  /** Accepted notifications in order, as `fire <alert>` or `recover <alert>`. */
  readonly taken: readonly string[]
  /** While true, the webhook rejects all notifications with status 500. */
  isDown: boolean
  /** Number of requests, accepted or not. */
  readonly requests: number
}

/** Starts a webhook that records the notifications that it receives. */
export const startReceiver = async (): Promise<Receiver> => {
  const taken: string[] = []
  let [isDown, requests] = [false, 0]
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    requests += 1
    if (isDown) return void response.writeHead(500).end()
    const message = RawMessage.parse(JSON.parse(text))
    for (const { event, title } of message.conditions ?? [message]) taken.push(`${event} ${alertIn(title)}`)
    response.end('ok')
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: origin,
    taken,
    get isDown() {
      return isDown
    },
    set isDown(value) {
      isDown = value
    },
    get requests() {
      return requests
    },
    [Symbol.asyncDispose]: stop,
  }
}

const alertIn = (title: string): string => /alert-\w+|Host unreachable/.exec(title)?.[0] ?? title

/** Requests to the HTTP API: inbound events, and the alerts and records that operators see. */
interface AlertApi {
  /** Sends an inbound event repeatedly until it is accepted. */
  send(alert: string, status: 'firing' | 'resolved'): Promise<void>
  sweep(): Promise<void>
  /** Returns the open alerts that the API lists. */
  open(): Promise<string[]>
  /** Returns the number of history entries for alerts and recoveries; 0 while the history cannot be read. */
  historyLines(): Promise<number>
  /** Returns the number of notifications recorded as sent; 0 while the records cannot be read. */
  sentOnRecord(): Promise<number>
}

/** The product with one process per service, on private servers that tests can stop and empty. */
export interface BreakableProduct extends AlertApi, AsyncDisposable {
  receiver: Receiver
  /** The only monitored host. It does not respond while `isDown` is true. */
  host: { isDown: boolean }
  /** NATS. It loses its data when it stops. */
  nats: Breakable
  postgres: Breakable
  /** Deletes all data in Redis. */
  flushRedis(): Promise<void>
  output(): string
}

interface Breakable {
  stop(): Promise<void>
  start(): Promise<void>
}

const services = ['query', 'ingest', 'alert-dispatcher', 'gateway'] as const

export const startBreakableProduct = async (env: Record<string, string> = {}): Promise<BreakableProduct> => {
  await using scope = new AsyncDisposableStack()
  const receiver = scope.use(await startReceiver())
  const nats = await startVolatileNats(scope)
  const redis = scope.use(await startRedis({ private: true }))
  const postgres = scope.use(await startPostgres({ private: true }))
  const host = { isDown: false }
  const stub = scope.use(
    await startHttpStub((_request, response) => void (host.isDown ? response.destroy() : response.end())),
  )
  const port = await reserveFreePort()
  const servers = { NATS_URL: nats.url, REDIS_URL: redis.url, SVC_STATE_DB_URL: postgres.url, OPS_URL: receiver.url }
  const hosts = formatHostVariables([{ url: stub.url, name: 'first' }])
  const variables = { ...servers, ...hosts, ...settings, PORT: String(port), ...env }
  const processes: ProductProcess[] = []
  for (const service of services)
    processes.push(
      scope.use(await startProcess({ services: [service], variables, operationsPort: await reserveFreePort() })),
    )
  const running = scope.move()
  return {
    ...createAlertApi(`http://127.0.0.1:${port}`),
    receiver,
    host,
    nats,
    postgres: { stop: () => postgres.kill(), start: () => postgres.restart() },
    flushRedis: () => flush(redis.url),
    output: () => processes.map((process) => process.output()).join('\n'),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const settings = {
  HOST: '127.0.0.1',
  SVC_EVENTS_INGEST_TOKEN: token,
  CRON_SECRET: cronSecret,
  HEALTH_ALERT_ENABLED: 'true',
  HEALTH_ALERT_WEBHOOK_TARGETS: JSON.stringify([{ name: 'ops', urlEnv: 'OPS_URL', format: 'raw' }]),
  SVC_HEALTH_SWEEP_ENABLED: 'true',
  // 0 disables periodic sweeps, so that sweeps run only when the test starts one.
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
  RATE_LIMIT_API_PER_MIN: '1000000',
  RATE_LIMIT_INGEST_PER_MIN: '1000000',
}

const createAlertApi = (url: string): AlertApi => ({
  send: (alert, status) => send(url, alert, status),
  async sweep() {
    const headers = { authorization: `Bearer ${cronSecret}` }
    const swept = await fetchJson(`${url}/api/cron/health-sweep`, { headers })
    if (swept.status !== 200) throw new Error(`sweep request failed: status ${swept.status}: ${swept.text}`)
  },
  async open() {
    const { data } = AlertStateResponse.parse((await fetchJson(`${url}/api/v1/health/alert-state`)).body)
    return data.map(({ title }) => alertIn(title)).toSorted()
  },
  async historyLines() {
    const answered = await fetchJson(`${url}/api/v1/health/history?limit=200`)
    if (answered.status !== 200) return 0
    const { data } = HistoryResponse.parse(answered.body)
    return data.filter(({ kind }) => kind === 'fire' || kind === 'recover').length
  },
  async sentOnRecord() {
    const answered = await fetchJson(`${url}/api/v1/health/deliveries?result=sent&limit=200`)
    return answered.status === 200 ? DeliveriesResponse.parse(answered.body).data.length : 0
  },
})

const flush = async (url: string): Promise<void> => {
  const client = new Redis(url)
  await client.flushall()
  client.disconnect()
}

const send = async (url: string, alert: string, status: 'firing' | 'resolved'): Promise<void> => {
  const key = `alert-${alert}`
  const event = { id: `${key}-${status}`, source: 'test', dedupKey: key, title: key, status, severity: 'critical' }
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(event),
  }
  await retryUntil(
    () => fetchJson(`${url}/api/events/ingest`, init).then((answer) => answer.status, String),
    (answered) => answered === 202,
    60_000,
  )
}

/** Starts a NATS server that loses its data when it stops. */
const startVolatileNats = async (scope: AsyncDisposableStack): Promise<Breakable & { url: string }> => {
  let server: TestServer = await startNats({ private: true })
  scope.defer(() => server.stop())
  const { url } = server
  return {
    url,
    stop: () => server.stop(),
    async start() {
      server = await startNats({ private: true, port: Number(new URL(url).port) })
    },
  }
}
