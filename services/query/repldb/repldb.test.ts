import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RepldbSlotLag } from '#proto/repldb-api.ts'
import { aCall, openParts, type OpenParts } from '../testing/open-parts.ts'
import { secretsOfFleet, shopFleet } from '../testing/replication-fleet.ts'
import { type ReplicationStandIn, startReplicationService } from '../testing/replication-service.ts'

const password = 'correct horse'
let service: ReplicationStandIn
let parts: OpenParts
const env: Record<string, string> = {}
beforeAll(async () => {
  service = await startReplicationService({ password })
  parts = await openParts(env)
})
beforeEach(() => {
  service.fleet = shopFleet()
  service.failing = undefined
  service.isHung = false
  service.heard.splice(0)
  for (const name of Object.keys(env)) delete env[name]
  Object.assign(env, { REPLDB_API_URL: service.url, REPLDB_PASSWORD: password, REPLDB_CACHE_TTL_MS: '0' })
})
afterAll(async () => {
  await parts[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const ask = () => parts.handlers
const refusal = (work: Promise<unknown>) => expect(work).rejects

describe('the replication service', () => {
  it('is asked for everything that may be read, and no secret comes back', async () => {
    const orders = { mirror: 'orders' }
    const peer = { peer: 'analytics' }
    const call = aCall()
    const all = [
      await ask().repldbVersion({}, call),
      await ask().repldbSettings({}, call),
      await ask().repldbMirrors({}, call),
      await ask().repldbMirrorNames({}, call),
      await ask().repldbTableCounts(orders, call),
      await ask().repldbInitialLoad(orders, call),
      await ask().repldbRowsSynced(orders, call),
      await ask().repldbMirrorStatus({ flowJobName: 'orders', includeFlowInfo: true, excludeBatches: false }, call),
      await ask().repldbGraph(
        { flowJobName: 'orders', aggregateType: 'TIME_AGGREGATE_TYPE_ONE_HOUR', mode: 'GRAPH_MODE_GROUP_BY' },
        call,
      ),
      await ask().repldbBatches({ flowJobName: 'orders', limit: 2, ascending: false, beforeId: -1, afterId: -1 }, call),
      await ask().repldbLogs(
        { flowJobName: '', level: 'all', page: 0, numPerPage: 100, beforeId: -1, afterId: -1 },
        call,
      ),
      await ask().repldbPeers({}, call),
      await ask().repldbPeerInfo(peer, call),
      await ask().repldbPeerType(peer, call),
      await ask().repldbSlots({ peer: 'shop_source' }, call),
      await ask().repldbPeerStats({ peer: 'shop_source' }, call),
      await ask().repldbSlotLag(
        { peerName: 'shop_source', slotName: 'peerflow_slot_orders', timeSince: '1hour' },
        call,
      ),
      await ask().repldbLogPatterns({ level: 'all' }, call),
      await ask().repldbOverview({}, call),
    ]
    const told = JSON.stringify(all)
    expect(secretsOfFleet.filter((secret) => told.includes(secret))).toEqual([])
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
        expect(await ask().repldbStatus({}, aCall())).toMatchObject({ status: 'connected', version: 'v0.30.1' })
      }
      expect(new Set(other.heard)).toEqual(new Set([form === 'web' ? 'GET /api/v1/version' : 'GET /v1/version']))
    },
  )

  it('gives the history of a slot in the order of time', async () => {
    const asked = { peerName: 'shop_source', slotName: 'peerflow_slot_billing', timeSince: '1hour' } as const
    const { data } = RepldbSlotLag.parse(await ask().repldbSlotLag(asked, aCall()))
    const times = data.map(({ time }) => time)
    expect(times).toHaveLength(12)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(data.at(-1)?.size).toBe(2.4)
  })

  it('lists mirrors with the worst first, and what their batches tell', async () => {
    const { mirrors, total, unanswered } = await ask().repldbOverview({}, aCall())
    expect(mirrors.map(({ name, state }) => [name, state])).toEqual([
      ['billing', 'failed'],
      ['users', 'paused'],
      ['events', 'snapshot'],
      ['nightly', 'completed'],
      ['orders', 'running'],
    ])
    expect([total, unanswered]).toEqual([5, []])
    expect(mirrors[0]).toMatchObject({ lagSeconds: expect.closeTo(900, -1), errorsLastHour: 2 })
    expect(mirrors[4]).toMatchObject({ lagSeconds: 0, rowsPerSecond: expect.closeTo(121.95, 1), errorsLastHour: 0 })
  })

  it('names the mirrors whose state it does not tell', async () => {
    service.fleet.mirrors.push({ name: 'x', isCdc: true, status: 'STATUS_NEW_IN_V9', batches: [], clones: [] })
    const listed = service.fleet.mirrors
    const status = await ask().repldbOverview({}, aCall())
    expect(status.mirrors.find(({ name }) => name === 'x')?.state).toBe('unknown')
    expect(listed).toHaveLength(6)
  })
})

describe('a replication service that does not answer', () => {
  const status = () => ask().repldbStatus({}, aCall())

  it('is not there', async () => {
    delete env.REPLDB_API_URL
    expect(await status()).toMatchObject({ status: 'not-configured', version: null })
    await refusal(ask().repldbMirrors({}, aCall())).toMatchObject({ code: 'not-implemented' })
    expect(await ask().repldbOffer({}, aCall())).toEqual({ isConfigured: false })
    expect(service.heard).toEqual([])
  })

  it('refuses the password', async () => {
    env.REPLDB_PASSWORD = 'another'
    expect(await status()).toMatchObject({ status: 'auth', message: expect.stringContaining('REPLDB_PASSWORD') })
    await refusal(ask().repldbMirrors({}, aCall())).toMatchObject({ code: 'unavailable', details: { reason: 'auth' } })
  })

  it('cannot be reached', async () => {
    env.REPLDB_API_URL = 'http://127.0.0.1:9'
    expect(await status()).toMatchObject({ status: 'unreachable', message: expect.stringContaining('REPLDB_API_URL') })
  })

  it('takes too long', async () => {
    service.isHung = true
    env.REPLDB_FETCH_TIMEOUT_MS = '50'
    const began = performance.now()
    expect(await status()).toMatchObject({ status: 'unreachable' })
    await refusal(ask().repldbMirrors({}, aCall())).toMatchObject({ code: 'timeout' })
    // Each would take 10 s by default.
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
  ])('fails with %i, of which nothing but the status is told', async (failing, code) => {
    service.failing = failing
    const error: unknown = await ask()
      .repldbMirrors({}, aCall())
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code })
    expect(String(error)).not.toMatch(/hunter2|db\.internal/)
  })

  it('is not heard by who left', async () => {
    service.isHung = true
    const leaving = new AbortController()
    const asking = ask().repldbMirrors({}, aCall({ signal: leaving.signal }))
    leaving.abort(new Error('left'))
    await refusal(asking).toThrow('left')
  })
})

describe('answers that are kept', () => {
  const names = () => ask().repldbMirrorNames({}, aCall())

  it('are given again within their time, and asked for once by many', async () => {
    env.REPLDB_CACHE_TTL_MS = '60000'
    await Promise.all([names(), names(), names()])
    await names()
    expect(service.heard).toEqual(['GET /v1/mirrors/names'])
  })

  it('are none while their time is 0', async () => {
    await names()
    await names()
    expect(service.heard).toHaveLength(2)
  })

  const status = (flowJobName: string, includeFlowInfo = false) =>
    ask().repldbMirrorStatus({ flowJobName, includeFlowInfo, excludeBatches: false }, aCall())

  it('are told apart by path and body', async () => {
    env.REPLDB_CACHE_TTL_MS = '60000'
    expect((await status('orders')).currentFlowState).toBe('STATUS_RUNNING')
    expect((await status('users')).currentFlowState).toBe('STATUS_PAUSED')
  })

  it('are no more than REPLDB_CACHE_MAX_ENTRIES, and the oldest go', async () => {
    Object.assign(env, { REPLDB_CACHE_TTL_MS: '60000', REPLDB_CACHE_MAX_ENTRIES: '1' })
    for (const mirror of ['orders', 'users', 'users', 'orders']) await status(mirror, true)
    expect(service.heard).toHaveLength(3)
  })
})
