import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RepldbSlotLag } from '#proto/repldb-api.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { fleetSecrets, createShopFleet } from '../testing/replication-fleet.ts'
import { type SimulatedReplicationService, startReplicationService } from '../testing/replication-service.ts'

const password = 'correct horse'
let service: SimulatedReplicationService
let parts: TestService
const env: Record<string, string> = {}
beforeAll(async () => {
  service = await startReplicationService({ password })
  parts = await openTestService(env)
})
beforeEach(() => {
  service.fleet = createShopFleet()
  service.failing = undefined
  service.isHung = false
  service.requests.splice(0)
  for (const name of Object.keys(env)) delete env[name]
  Object.assign(env, { REPLDB_API_URL: service.url, REPLDB_PASSWORD: password, REPLDB_CACHE_TTL_MS: '0' })
})
afterAll(async () => {
  await parts[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const handlers = () => parts.handlers
const refusal = (work: Promise<unknown>) => expect(work).rejects

describe('the replication service', () => {
  it('serves every endpoint without secrets', async () => {
    const orders = { mirror: 'orders' }
    const peer = { peer: 'analytics' }
    const call = createCall()
    const all = [
      await handlers().repldbVersion({}, call),
      await handlers().repldbSettings({}, call),
      await handlers().repldbMirrors({}, call),
      await handlers().repldbMirrorNames({}, call),
      await handlers().repldbTableCounts(orders, call),
      await handlers().repldbInitialLoad(orders, call),
      await handlers().repldbRowsSynced(orders, call),
      await handlers().repldbMirrorStatus(
        { flowJobName: 'orders', includeFlowInfo: true, excludeBatches: false },
        call,
      ),
      await handlers().repldbGraph(
        { flowJobName: 'orders', aggregateType: 'TIME_AGGREGATE_TYPE_ONE_HOUR', mode: 'GRAPH_MODE_GROUP_BY' },
        call,
      ),
      await handlers().repldbBatches(
        { flowJobName: 'orders', limit: 2, ascending: false, beforeId: -1, afterId: -1 },
        call,
      ),
      await handlers().repldbLogs(
        { flowJobName: '', level: 'all', page: 0, numPerPage: 100, beforeId: -1, afterId: -1 },
        call,
      ),
      await handlers().repldbPeers({}, call),
      await handlers().repldbPeerInfo(peer, call),
      await handlers().repldbPeerType(peer, call),
      await handlers().repldbSlots({ peer: 'shop_source' }, call),
      await handlers().repldbPeerStats({ peer: 'shop_source' }, call),
      await handlers().repldbSlotLag(
        { peerName: 'shop_source', slotName: 'peerflow_slot_orders', timeSince: '1hour' },
        call,
      ),
      await handlers().repldbLogPatterns({ level: 'all' }, call),
      await handlers().repldbOverview({}, call),
    ]
    const text = JSON.stringify(all)
    expect(fleetSecrets.filter((secret) => text.includes(secret))).toEqual([])
    expect(all[12]).toEqual({ peer: { name: 'analytics', type: 'CLICKHOUSE' }, version: '25.8' })
    expect(all[15]).toMatchObject({
      statData: [{ pid: 4711, query: 'SELECT id FROM users WHERE mail = ? AND id > ?' }],
    })
    expect(all[9]).toMatchObject({ total: 30, cdcBatches: [{ batchId: 30, numRows: 1_229 }, { batchId: 29 }] })
    expect(all[1]).toMatchObject({ settings: [{ value: '8' }, { name: 'PEERDB_ALERT_TOKEN', value: '[hidden]' }] })
  })

  it.each(['web', 'api'] as const)(
    'is reached in the form of its %s, with or without a slash at the end',
    async (form) => {
      await using other = await startReplicationService({ form })
      for (const slash of ['', '/']) {
        Object.assign(env, { REPLDB_API_URL: other.url + slash, REPLDB_PASSWORD: '' })
        expect(await handlers().repldbStatus({}, createCall())).toMatchObject({
          status: 'connected',
          version: 'v0.30.1',
        })
      }
      expect(new Set(other.requests)).toEqual(new Set([form === 'web' ? 'GET /api/v1/version' : 'GET /v1/version']))
    },
  )

  it('sorts the history of a slot by time', async () => {
    const request = { peerName: 'shop_source', slotName: 'peerflow_slot_billing', timeSince: '1hour' } as const
    const { data } = RepldbSlotLag.parse(await handlers().repldbSlotLag(request, createCall()))
    const times = data.map(({ time }) => time)
    expect(times).toHaveLength(12)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(data.at(-1)?.size).toBe(2.4)
  })

  it('lists mirrors by severity with their throughput', async () => {
    const { mirrors, total, withoutStatus } = await handlers().repldbOverview({}, createCall())
    expect(mirrors.map(({ name, state }) => [name, state])).toEqual([
      ['billing', 'failed'],
      ['users', 'paused'],
      ['events', 'snapshot'],
      ['nightly', 'completed'],
      ['orders', 'running'],
    ])
    expect([total, withoutStatus]).toEqual([5, []])
    expect(mirrors[0]).toMatchObject({ lagSeconds: expect.closeTo(900, -1), errorsLastHour: 2 })
    expect(mirrors[4]).toMatchObject({ lagSeconds: 0, rowsPerSecond: expect.closeTo(121.95, 1), errorsLastHour: 0 })
  })

  it('names mirrors without a state', async () => {
    service.fleet.mirrors.push({ name: 'x', isCdc: true, status: 'STATUS_NEW_IN_V9', batches: [], clones: [] })
    const listed = service.fleet.mirrors
    const status = await handlers().repldbOverview({}, createCall())
    expect(status.mirrors.find(({ name }) => name === 'x')?.state).toBe('unknown')
    expect(listed).toHaveLength(6)
  })
})

describe('an unavailable replication service', () => {
  const status = () => handlers().repldbStatus({}, createCall())

  it('is not configured', async () => {
    delete env.REPLDB_API_URL
    expect(await status()).toMatchObject({ status: 'not-configured', version: null })
    await refusal(handlers().repldbMirrors({}, createCall())).toMatchObject({ code: 'not-implemented' })
    expect(await handlers().repldbOffer({}, createCall())).toEqual({ isConfigured: false })
    expect(service.requests).toEqual([])
  })

  it('rejects the password', async () => {
    env.REPLDB_PASSWORD = 'another'
    expect(await status()).toMatchObject({ status: 'auth', message: expect.stringContaining('REPLDB_PASSWORD') })
    await refusal(handlers().repldbMirrors({}, createCall())).toMatchObject({
      code: 'unavailable',
      details: { reason: 'auth' },
    })
  })

  it('cannot be reached', async () => {
    env.REPLDB_API_URL = 'http://127.0.0.1:9'
    expect(await status()).toMatchObject({ status: 'unreachable', message: expect.stringContaining('REPLDB_API_URL') })
  })

  it('times out', async () => {
    service.isHung = true
    env.REPLDB_FETCH_TIMEOUT_MS = '50'
    const began = performance.now()
    expect(await status()).toMatchObject({ status: 'unreachable' })
    await refusal(handlers().repldbMirrors({}, createCall())).toMatchObject({ code: 'timeout' })
    // With the default timeout, each of the two calls would take 10 s.
    expect(performance.now() - began).toBeLessThan(5_000)
  })

  it('is another server', async () => {
    await using web = await startReplicationService({ form: 'web' })
    env.REPLDB_API_URL = web.url.replace('/api', '')
    expect(await status()).toMatchObject({ status: 'unreachable', message: expect.stringContaining('/api') })
  })

  it.each([
    [400, 'unavailable'],
    [404, 'not-found'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('fails with %i without the response body', async (failing, code) => {
    service.failing = failing
    const error: unknown = await handlers()
      .repldbMirrors({}, createCall())
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code })
    expect(String(error)).not.toMatch(/hunter2|db\.internal/)
  })

  it('rethrows a cancellation', async () => {
    service.isHung = true
    const leaving = new AbortController()
    const pending = handlers().repldbMirrors({}, createCall({ signal: leaving.signal }))
    leaving.abort(new Error('left'))
    await refusal(pending).toThrow('left')
  })
})

describe('cached responses', () => {
  const names = () => handlers().repldbMirrorNames({}, createCall())

  it('are reused and shared by concurrent requests', async () => {
    env.REPLDB_CACHE_TTL_MS = '60000'
    await Promise.all([names(), names(), names()])
    await names()
    expect(service.requests).toEqual(['GET /v1/mirrors/names'])
  })

  it('are disabled with a lifetime of 0', async () => {
    await names()
    await names()
    expect(service.requests).toHaveLength(2)
  })

  const status = (flowJobName: string, includeFlowInfo = false) =>
    handlers().repldbMirrorStatus({ flowJobName, includeFlowInfo, excludeBatches: false }, createCall())

  it('are keyed by path and body', async () => {
    env.REPLDB_CACHE_TTL_MS = '60000'
    expect((await status('orders')).currentFlowState).toBe('STATUS_RUNNING')
    expect((await status('users')).currentFlowState).toBe('STATUS_PAUSED')
  })

  it('are limited by REPLDB_CACHE_MAX_ENTRIES', async () => {
    Object.assign(env, { REPLDB_CACHE_TTL_MS: '60000', REPLDB_CACHE_MAX_ENTRIES: '1' })
    for (const mirror of ['orders', 'users', 'users', 'orders']) await status(mirror, true)
    expect(service.requests).toHaveLength(3)
  })
})
