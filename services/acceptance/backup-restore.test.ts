// @module-tag long
import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AlertConfigResponse, AlertStateResponse, HistoryResponse } from '#proto/http/alerts.ts'
import { UserConnectionResponse } from '#proto/http/connections.ts'
import { startStrictServer, type StrictServer } from '../alert-dispatcher/channels/testing/strict-server.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { describeWith, startNats, startPostgres, startRedis, type TestServer } from '../testing/describe-with.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { readPodCommand } from '../testing/guide-commands.ts'
import { formatHostVariables } from '../testing/product.ts'
import { startProcess } from '../testing/product/product-process.ts'
import { reserveFreePort } from '../testing/servers/port.ts'
import { findProgram } from '../testing/servers/server-source.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const encryptionKey = 'the key of the operator, thirty-two'
const ingestToken = 'token of the senders'
const cronSecret = 'the secret of the scheduler'
const json = { 'content-type': 'application/json' }

/** Creates the database of the chart on a server and returns its URL. */
const createDatabase = async ({ url }: TestServer): Promise<string> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('CREATE DATABASE watchhouse')
  await client.end()
  return url.replace(/\/postgres$/, '/watchhouse')
}

/** Runs a PostgreSQL command of the guide on a server and returns its output. `input` is a file. */
const runOnServer = async ({ url }: TestServer, text: string, input?: string): Promise<Buffer> => {
  const [name = '', ...parameters] = readPodCommand(text)
  const program = findProgram(name)
  if (program === undefined) throw new Error(`program "${name}" not found; install the client of PostgreSQL`)
  const { hostname, port } = new URL(url)
  const env = { ...process.env, PGHOST: hostname, PGPORT: port }
  const running = promisify(execFile)(program, parameters, { env, encoding: 'buffer', maxBuffer: 100_000_000 })
  const { stdin } = running.child
  if (stdin && input !== undefined) await pipeline(createReadStream(input), stdin)
  return (await running).stdout
}

/** Sends a request and returns the body of its response. Throws unless it succeeds. */
const send = async (url: string, body: object, method = 'POST'): Promise<unknown> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${ingestToken}` }
  const response = await fetchJson(url, { method, headers, body: JSON.stringify(body) })
  if (response.status >= 300) throw new Error(`${method} ${url} failed: status ${response.status}: ${response.text}`)
  return response.body
}

const get = async (url: string): Promise<unknown> => {
  const response = await fetchJson(url)
  if (response.status !== 200) throw new Error(`GET ${url} failed: status ${response.status}: ${response.text}`)
  return response.body
}

describeWith(['nats', 'redis', 'postgres'], 'a backup of PostgreSQL', () => {
  const scope = new AsyncDisposableStack()
  let sandbox: Sandbox
  let receiver: StrictServer
  let dump: string
  let hostId: number

  /** Starts all services on empty NATS and Redis servers. */
  const start = async (opened: AsyncDisposableStack, database: string, key = encryptionKey): Promise<string> => {
    const [nats, redis] = await Promise.all([startNats({ private: true }), startRedis({ private: true })])
    for (const server of [nats, redis]) opened.use(server)
    const port = await reserveFreePort()
    const variables = {
      ...formatHostVariables([{ url: sandbox.url, name: 'first' }]),
      HOST: '127.0.0.1',
      PORT: String(port),
      NATS_URL: nats.url,
      REDIS_URL: redis.url,
      SVC_STATE_DB_URL: database,
      SVC_USER_CONNECTIONS_ENCRYPTION_KEY: key,
      SVC_FEATURE_USER_CONNECTIONS_DB: 'true',
      SVC_ALLOW_PRIVATE_HOSTS: 'true',
      SVC_EVENTS_INGEST_TOKEN: ingestToken,
      RATE_LIMIT_API_PER_MIN: '1000000',
      SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
      CRON_SECRET: cronSecret,
    }
    opened.use(await startProcess({ services: [], variables, operationsPort: await reserveFreePort() }))
    return `http://127.0.0.1:${port}`
  }

  const alertsOf = async (url: string) =>
    AlertStateResponse.parse(await get(`${url}/api/v1/health/alert-state`))
      .data.map(({ title }) => title)
      .join()
  const historyOf = async (url: string) =>
    HistoryResponse.parse(await get(`${url}/api/v1/health/history`))
      .data.map(({ title }) => title)
      .join()
  const webhookOf = async (url: string) =>
    AlertConfigResponse.parse(await get(`${url}/api/v1/health/alert-config`)).data.channels.find(
      ({ channel }) => channel === 'webhook',
    )
  const testChannel = (url: string) =>
    fetchJson(`${url}/api/v1/health/channels/webhook/test`, { method: 'POST', headers: json, body: '{}' })
  const chartOf = (url: string) => fetchJson(`${url}/api/v1/charts/top-table-size?hostId=${hostId}`)

  beforeAll(async () => {
    sandbox = scope.use(await startSandbox({ seed: false }))
    receiver = scope.use(await startStrictServer({ problem: () => undefined, answer: { status: 200, body: 'ok' } }))
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-backup-'))
    scope.defer(() => rm(directory, { recursive: true }))
    await using original = new AsyncDisposableStack()
    const postgres = original.use(await startPostgres({ private: true }))
    const url = await start(original, await createDatabase(postgres))
    const base = `${url}/api/v1`
    await send(`${base}/health/alert-config/channels/webhook`, { settings: { url: `${receiver.url}/saved` } }, 'PUT')
    const connection = { url: sandbox.url, user: 'default', password: '', name: 'mine' }
    hostId = UserConnectionResponse.parse(await send(`${base}/user-connections`, connection)).data.hostId
    const event = { id: 'one', source: 'test', dedupKey: 'one', title: 'alert-one', status: 'firing' }
    await send(`${url}/api/events/ingest`, { ...event, severity: 'critical' })
    await retryUntil(
      () => historyOf(url),
      (titles) => titles.includes('alert-one'),
    )
    dump = join(directory, 'watchhouse.dump')
    await writeFile(dump, await runOnServer(postgres, 'pg_dump'))
  })
  afterAll(() => scope.disposeAsync())

  /** Restores the backup on a new server and starts the product on it, with empty NATS and Redis servers. */
  const restore = async (opened: AsyncDisposableStack, key?: string): Promise<string> => {
    const postgres = opened.use(await startPostgres({ private: true }))
    const database = await createDatabase(postgres)
    await runOnServer(postgres, 'pg_restore', dump)
    return start(opened, database, key)
  }

  it('restores alerts, channels and connections on a new server, with NATS and Redis empty', async () => {
    await using opened = new AsyncDisposableStack()
    const url = await restore(opened)
    expect(await historyOf(url)).toContain('alert-one')
    const headers = { authorization: `Bearer ${cronSecret}` }
    expect(await fetchJson(`${url}/api/cron/health-sweep`, { headers })).toMatchObject({ status: 200 })
    await retryUntil(
      () => alertsOf(url),
      (titles) => titles.includes('alert-one'),
    )
    expect(await webhookOf(url)).toMatchObject({ problem: null })
    const before = receiver.taken.length
    expect(await testChannel(url)).toMatchObject({ status: 200 })
    expect(receiver.taken.slice(before).map(({ path }) => path)).toEqual(['/saved'])
    const chart = await retryUntil(
      () => chartOf(url),
      ({ status }) => status === 200,
    )
    expect(chart.status).toBe(200)
  })

  it('opens no secret with another encryption key, and names the channel', async () => {
    await using opened = new AsyncDisposableStack()
    const url = await restore(opened, 'another key, which the operator made up')
    expect(await webhookOf(url)).toMatchObject({
      problem: expect.stringContaining('cannot be decrypted; save it again'),
    })
    expect((await chartOf(url)).status).not.toBe(200)
    expect(await historyOf(url)).toContain('alert-one')
  })
})
