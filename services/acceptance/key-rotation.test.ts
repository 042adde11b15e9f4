// @module-tag long
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { createProcessKeys } from '#shared/bus/testing/keys.ts'
import { AlertConfigResponse } from '#proto/http/alerts.ts'
import { startStrictServer } from '../alert-dispatcher/channels/testing/strict-server.ts'
import { startSandbox } from '../sandbox/start.ts'
import { startLoad } from '../testing/chart/load.ts'
import { describeWith, startNats, startPostgres, startRedis } from '../testing/describe-with.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { formatHostVariables } from '../testing/product.ts'
import { type ProductProcess, startProcess } from '../testing/product/product-process.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

vi.setConfig({ testTimeout: 300_000 })

const cronSecret = 'the secret of the scheduler'
const services = ['query', 'mcp', 'alert-dispatcher'] as const
/** Processes read the file of a secret again after a second. */
const fileReadMs = 2_500
/** Requests during each state of the keys. */
const loadMs = 2_000
const minAnswers = 20

type Service = (typeof services)[number] | 'gateway'
type Variables = Record<string, string>

const createSecret = (): string => randomBytes(32).toString('hex')

/** Returns variables with the suffix `_PREVIOUS`. */
const asPrevious = (keys: Variables): Variables =>
  Object.fromEntries(Object.entries(keys).map(([name, key]) => [`${name}_PREVIOUS`, key]))

/** The variables of the bus keys of a service: the current ones and, during a rotation, the previous ones. */
const keysOf = (service: Service, secret: string, previous?: string): Variables => ({
  ...createProcessKeys([service], secret),
  ...(previous !== undefined && asPrevious(createProcessKeys([service], previous))),
})

const startServers = async (scope: AsyncDisposableStack): Promise<Variables> => {
  const sandbox = scope.use(await startSandbox({ seed: false }))
  const [nats, redis, postgres] = await Promise.all([
    startNats({ private: true }),
    startRedis({ private: true }),
    startPostgres(),
  ])
  for (const server of [nats, redis, postgres]) scope.use(server)
  return {
    ...formatHostVariables([{ url: sandbox.url, name: 'first' }]),
    HOST: '127.0.0.1',
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    SVC_STATE_DB_URL: postgres.url,
    CRON_SECRET: cronSecret,
    SVC_MCP_PUBLIC: 'true',
    SVC_ALLOW_PRIVATE_HOSTS: 'true',
    SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
    RATE_LIMIT_API_PER_MIN: '1000000',
    RATE_LIMIT_MCP_PER_MIN: '1000000',
  }
}

/** Sends requests that reach each service, also through another one: the tool server calls `query`. */
const startRequests = (gateway: () => string) => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_databases', arguments: {} } }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return startLoad(gateway, {
    query: { path: '/api/v1/tables/settings?hostId=0&limit=1', has: '"data":[{' },
    mcp: { path: '/api/mcp', init: { method: 'POST', headers, body: JSON.stringify(call) }, has: 'INFORMATION_SCHEMA' },
    'alert-dispatcher': { path: '/api/v1/health/alert-state', has: '"data":' },
  })
}

/** Runs a sweep, in which `alert-dispatcher` calls `query`. A stopping process ends its sweep, so none runs meanwhile. */
const expectSweep = async (url: string) => {
  const headers = { authorization: `Bearer ${cronSecret}` }
  const { status, text } = await fetchJson(`${url}/api/cron/health-sweep`, { headers })
  expect([status, text]).toEqual([200, expect.stringContaining('"hosts":1')])
}

const expectAllAnswered = (answered: ReadonlyMap<string, number>) => {
  expect([...answered.keys()].toSorted()).toEqual(['alert-dispatcher: answered', 'mcp: answered', 'query: answered'])
  expect(answered.get('query: answered')).toBeGreaterThan(minAnswers)
}

describeWith(['nats', 'redis', 'postgres'], 'a rotation of the bus keys', () => {
  it('fails no request if the processes are replaced in the documented order', async () => {
    await using scope = new AsyncDisposableStack()
    const servers = await startServers(scope)
    const running = new Map<Service, ProductProcess>()
    let gateway = ''
    /** Starts a process, then stops its predecessor, as a rolling update does. */
    const roll = async (service: Service, keys: Variables) => {
      const port = String(await reserveFreePort())
      const options = { services: [service], variables: { ...servers, ...keys, PORT: port } }
      const started = scope.use(await startProcess({ ...options, operationsPort: await reserveFreePort() }))
      const old = running.get(service)
      running.set(service, started)
      if (service === 'gateway') gateway = `http://127.0.0.1:${port}`
      await old?.stop()
    }
    const [old, current] = [createSecret(), createSecret()]
    for (const service of [...services, 'gateway'] as const) await roll(service, keysOf(service, old))
    const load = startRequests(() => gateway)
    for (const service of services) await roll(service, keysOf(service, current, old))
    await expectSweep(gateway)
    await wait(loadMs)
    await roll('gateway', keysOf('gateway', current))
    await expectSweep(gateway)
    await wait(loadMs)
    for (const service of services) await roll(service, keysOf(service, current))
    await expectSweep(gateway)
    await wait(loadMs)
    await load.stop()
    expectAllAnswered(load.answered)
  })

  it('fails no request if the keys are in files, without a restart', async () => {
    await using scope = new AsyncDisposableStack()
    const servers = await startServers(scope)
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-keys-'))
    scope.defer(() => rm(directory, { recursive: true }))
    const write = async (service: Service, keys: Variables) => {
      const names = Object.keys(keysOf(service, '', '')).map((name) => [name, keys[name] ?? ''] as const)
      for (const [name, key] of names) await writeFile(join(directory, `${service}-${name}`), key)
    }
    const port = String(await reserveFreePort())
    const [old, current] = [createSecret(), createSecret()]
    for (const service of [...services, 'gateway'] as const) {
      await write(service, keysOf(service, old))
      const files = Object.keys(keysOf(service, '', '')).map((name) => [
        `${name}_FILE`,
        join(directory, `${service}-${name}`),
      ])
      const variables = { ...servers, PORT: port, ...Object.fromEntries(files) }
      const operationsPort = await reserveFreePort()
      scope.use(await startProcess({ services: [service], variables, operationsPort }))
    }
    const load = startRequests(() => `http://127.0.0.1:${port}`)
    for (const service of services) await write(service, keysOf(service, current, old))
    await wait(fileReadMs + loadMs)
    await expectSweep(`http://127.0.0.1:${port}`)
    await write('gateway', keysOf('gateway', current))
    await wait(fileReadMs + loadMs)
    await expectSweep(`http://127.0.0.1:${port}`)
    for (const service of services) await write(service, keysOf(service, current))
    await wait(fileReadMs + loadMs)
    await expectSweep(`http://127.0.0.1:${port}`)
    await load.stop()
    expectAllAnswered(load.answered)
  })

  it('rejects requests of a gateway whose secret the services do not have', async () => {
    await using scope = new AsyncDisposableStack()
    const servers = await startServers(scope)
    const port = String(await reserveFreePort())
    for (const service of ['query', 'gateway'] as const) {
      const variables = { ...servers, ...keysOf(service, createSecret()), PORT: port }
      scope.use(await startProcess({ services: [service], variables, operationsPort: await reserveFreePort() }))
    }
    const { status } = await fetchJson(`http://127.0.0.1:${port}/api/v1/tables/settings?hostId=0&limit=1`)
    expect(status).toBeGreaterThanOrEqual(400)
  })
})

describeWith(['nats', 'redis', 'postgres'], 'a rotation of the encryption key', () => {
  it('keeps saved secrets usable, and re-encrypts those that are saved again', async () => {
    await using scope = new AsyncDisposableStack()
    const servers = await startServers(scope)
    const receiver = scope.use(
      await startStrictServer({ problem: () => undefined, answer: { status: 200, body: 'ok' } }),
    )
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-keys-'))
    scope.defer(() => rm(directory, { recursive: true }))
    const name = 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY'
    const [path, previousPath] = [join(directory, 'key'), join(directory, 'previous')]
    const write = async (current: string, previous = '') => {
      // The previous key comes first, so that at any time one of the files has the key of the saved secrets.
      await writeFile(previousPath, previous)
      await wait(fileReadMs)
      await writeFile(path, current)
      await wait(fileReadMs)
    }
    const port = String(await reserveFreePort())
    const files = { [`${name}_FILE`]: path, [`${name}_PREVIOUS_FILE`]: previousPath }
    const [old, current] = [createSecret(), createSecret()]
    await write(old)
    const variables = { ...servers, ...files, PORT: port, NATS_SIGNING_KEY: createSecret() }
    scope.use(await startProcess({ services: [], variables, operationsPort: await reserveFreePort() }))
    const url = `http://127.0.0.1:${port}`
    const headers = { 'content-type': 'application/json' }
    const send = (method: string, path_: string, body: object) =>
      fetchJson(`${url}/api/v1/health/${path_}`, { method, headers, body: JSON.stringify(body) })
    const save = () => send('PUT', 'alert-config/channels/webhook', { settings: { url: `${receiver.url}/saved` } })
    const problem = async () => {
      const { data } = AlertConfigResponse.parse((await fetchJson(`${url}/api/v1/health/alert-config`)).body)
      return data.channels.find(({ channel }) => channel === 'webhook')?.problem
    }
    expect(await save()).toMatchObject({ status: 200 })
    const test = { method: 'POST', headers, body: '{}' }
    const load = startLoad(() => url, {
      channel: { path: '/api/v1/health/channels/webhook/test', init: test, has: '"' },
    })
    await write(current, old)
    await load.stop()
    expect([...load.answered.keys()]).toEqual(['channel: answered'])
    expect(receiver.taken.length).toBeGreaterThan(minAnswers)
    expect(await problem()).toBeNull()

    await write(current)
    await vi.waitFor(async () => expect(await problem()).toMatch(/cannot be decrypted; save it again/), 20_000)
    await write(current, old)
    expect(await save()).toMatchObject({ status: 200 })
    await write(current)
    await wait(fileReadMs)
    expect(await problem()).toBeNull()
  })
})
