import { createClock } from '#shared/time/clock.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { AuditResponse } from '#proto/http/audit.ts'
import { ConnectionSessionResponse, UserConnectionResponse, UserConnectionsResponse } from '#proto/http/connections.ts'
import { HostsResponse } from '#proto/http/data.ts'
import { FleetResponse } from '#proto/http/fleet.ts'
import { fakeConnections } from '../testing/query-writes.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'

const target = { url: 'https://db.example.com:8443', user: 'ada', password: 'very secret' }
const sessions = '/api/v1/browser-connections/sessions'
const kept = '/api/v1/user-connections'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-connections-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Identifies the user in a test header. */
const byHeader = async ({ headers }: { headers: Record<string, unknown> }): Promise<Identity> =>
  headers['x-test-person'] === undefined
    ? anonymousCaller
    : { kind: 'user', subject: String(headers['x-test-person']), features: 'all' }

const sendTo =
  (product: FakeProduct) =>
  async (method: string, path: string, { body, ...headers }: Record<string, unknown> & { body?: unknown } = {}) => {
    const sent = { 'content-type': 'application/json', ...(headers as Record<string, string>) }
    const response = await fetch(product.url + path, { method, headers: sent, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as unknown }
  }

describe('a connection session', () => {
  const open = async (product: FakeProduct, headers: Record<string, string> = {}) => {
    const { body } = await sendTo(product)('POST', sessions, { body: { ...target, name: 'Größe' }, ...headers })
    return ConnectionSessionResponse.parse(body).data
  }

  it('returns a token for 15 minutes after testing the connection', async () => {
    await using product = await startFakeProduct({ clock: createClock(() => Date.UTC(2026, 0, 1)) })
    const { token, ...session } = await open(product)
    expect(session).toEqual({
      header: 'x-connection-session',
      hostId: 0,
      name: 'Größe',
      version: '26.3.1',
      expiresAt: '2026-01-01T00:15:00.000Z',
      lifetimeSeconds: 900,
    })
    expect(token).not.toMatch(/very|secret|example/)
    expect(product.received.map(({ method }) => method)).toEqual(['connectionKey', 'testConnection', 'sealConnection'])
  })

  it('is encrypted on the bus when tested, opened or saved', async () => {
    const env = { SVC_FEATURE_USER_CONNECTIONS_DB: 'yes', SVC_STATE_DB_URL: `file:${directory}/clear.db` }
    await using product = await startFakeProduct({ env })
    const send = sendTo(product)
    await send('POST', '/api/v1/browser-connections/test', { body: target })
    await open(product)
    const { body } = await send('POST', kept, { body: { ...target, name: 'mine' } })
    const { id } = UserConnectionResponse.parse(body).data
    expect((await send('PUT', `${kept}/${id}`, { body: { ...target, name: 'mine' } })).status).toBe(200)
    expect(product.received.filter(({ input }) => 'encryptedTarget' in input)).toHaveLength(7)
    expect(JSON.stringify(product.received)).not.toMatch(/very secret|"ada"|db\.example\.com/)
  })

  it.each([
    '/api/v1/charts/query-count',
    '/api/v1/tables/running-queries',
    '/api/v1/overview?hostId=0',
    '/api/v1/fleet',
  ])('replaces the host list for %s', async (path) => {
    await using product = await startFakeProduct()
    const { token } = await open(product)
    product.received.length = 0
    const { status } = await sendTo(product)('GET', path, { 'x-connection-session': token })
    expect(status).toBe(200)
    const [received] = product.received
    expect(received?.input.hostKey).toMatch(/^user:[\w-]{22}:[\w-]{22}$/)
    const sentConnections = received?.call.connections?.get(String(received.input.hostKey))
    expect(sentConnections).toMatchObject({ name: 'Größe', sealed: `fake.${String(received?.input.hostKey)}.Größe` })
  })

  it('contains only its own host', async () => {
    await using product = await startFakeProduct()
    const { token } = await open(product)
    const send = sendTo(product)
    const { body } = await send('GET', '/api/v1/hosts', { 'x-connection-session': token })
    expect(HostsResponse.parse(body).data).toEqual([
      { id: 0, name: 'Größe', host: 'db.example.com:8443', group: null, tags: [] },
    ])
    const other = await send('GET', '/api/v1/overview?hostId=1', { 'x-connection-session': token })
    expect(other).toMatchObject({ status: 404, body: { error: { message: 'unknown host "1"; available: 0 (Größe)' } } })
  })

  it('is the whole fleet, with current data', async () => {
    await using product = await startFakeProduct({ alerts: {} })
    const { token } = await open(product)
    const { body } = await sendTo(product)('GET', '/api/v1/fleet', { 'x-connection-session': token })
    const { data, metadata } = FleetResponse.parse(body)
    expect(data).toMatchObject([
      { id: 0, name: 'Größe', status: 'up', version: '26.3.1', load: { queries: 2, cpu: 25 } },
    ])
    expect(metadata).toEqual({ oldestMs: 0, findingsBy: [] })
  })

  it('is rejected by routes for configured hosts, and does not affect healthz', async () => {
    await using product = await startFakeProduct({ mcp: {}, env: { SVC_MCP_PUBLIC: 'true' } })
    const headers = { 'x-connection-session': (await open(product)).token }
    const send = sendTo(product)
    const refused = [
      await send('GET', '/api/v1/metrics', headers),
      await send('POST', '/api/mcp', { ...headers, body: {} }),
    ]
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 400, body: { error: { details: { parameter: 'x-connection-session' } } } })
    }
    expect(await send('GET', '/api/healthz', headers)).toEqual(await send('GET', '/api/healthz'))
  })

  it('gets another key for another caller, which does not open it', async () => {
    await using product = await startFakeProduct({ identify: byHeader })
    const { token } = await open(product, { 'x-test-person': 'ada' })
    const keyFor = async (person: string) => {
      product.received.length = 0
      const headers = { 'x-connection-session': token, 'x-test-person': person }
      await sendTo(product)('GET', '/api/v1/overview?hostId=0', headers)
      return product.received[0]?.input.hostKey
    }
    const [own, theirs] = [await keyFor('ada'), await keyFor('eve')]
    expect(own).toMatch(/^user:/)
    expect(theirs).not.toBe(own)
  })

  it.each([
    '',
    'abc',
    'a.b.c',
    `${'a'.repeat(22)}..aG9zdA.sealed`,
    `${'a'.repeat(22)}.bmFtZQ..sealed`,
    `${'a'.repeat(22)}.bmFtZQ.AAAA.sealed`,
    `${'a'.repeat(22)}.bmFtZQ.aG9zdA.`,
  ])('rejects an invalid token without a call to query: %j', async (token) => {
    await using product = await startFakeProduct()
    const answer = await sendTo(product)('GET', '/api/v1/overview?hostId=0', { 'x-connection-session': token })
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { parameter: 'x-connection-session' } } } })
    expect(product.received).toEqual([])
  })

  it('returns the reason when the connection test fails', async () => {
    const tested = { ok: false, reason: 'refused', message: 'host db refused the user or password' } as const
    await using product = await startFakeProduct({ query: { testConnection: async () => tested } })
    const answer = await sendTo(product)('POST', sessions, { body: target })
    expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid', details: { reason: 'refused' } } } })
    const test = await sendTo(product)('POST', '/api/v1/browser-connections/test', { body: target })
    expect(test).toMatchObject({ status: 200, body: { data: tested } })
  })

  it.each([
    [{}, 'url'],
    [{ ...target, url: 1 }, 'url'],
    [{ ...target, url: `http://${'a'.repeat(2_048)}` }, 'url'],
    [{ ...target, user: '' }, 'user'],
    [{ ...target, password: 'a'.repeat(1_025) }, 'password'],
    [{ ...target, name: 'a\nb' }, 'name'],
    [{ ...target, port: 1 }, 'port'],
  ])('names the invalid parameter in %j', async (body, parameter) => {
    await using product = await startFakeProduct()
    const answer = await sendTo(product)('POST', sessions, { body })
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { parameter } } } })
    expect(JSON.stringify(answer.body)).not.toContain('very secret')
  })

  it('is rate limited by client address, separately for the two routes', async () => {
    await using product = await startFakeProduct({ env: { RATE_LIMIT_BROWSER_CONN_PER_MIN: '2' } })
    const send = sendTo(product)
    const statuses = async (path: string) =>
      Promise.all([1, 2, 3].map(async () => (await send('POST', path, { body: target })).status))
    expect((await statuses(sessions)).toSorted()).toEqual([200, 200, 429])
    expect((await statuses('/api/v1/browser-connections/test')).toSorted()).toEqual([200, 200, 429])
  })
})

describe('saved connections', () => {
  const env = () => ({
    SVC_FEATURE_USER_CONNECTIONS_DB: 'yes',
    SVC_STATE_DB_URL: `file:${directory}/${crypto.randomUUID()}.db`,
  })
  const start = (more: Parameters<typeof startFakeProduct>[0] = {}) =>
    startFakeProduct({ env: env(), identify: byHeader, ...more })
  const ada = { 'x-test-person': 'ada' }
  const add = async (product: FakeProduct, headers: Record<string, string> = ada) => {
    const { body } = await sendTo(product)('POST', kept, { ...headers, body: { ...target, name: 'mine' } })
    return UserConnectionResponse.parse(body).data
  }

  it('are hosts with negative ids for their owner in every route', async () => {
    await using product = await start()
    const { id, hostId } = await add(product)
    expect(hostId).toBeLessThan(0)
    const send = sendTo(product)
    const { body } = await send('GET', '/api/v1/hosts', ada)
    expect(HostsResponse.parse(body).data.at(-1)).toMatchObject({
      id: hostId,
      name: 'mine',
      host: 'db.example.com:8443',
    })
    product.received.length = 0
    expect((await send('GET', `/api/v1/overview?hostId=${hostId}`, ada)).status).toBe(200)
    expect(
      (await send('POST', '/api/v1/charts/batch', { ...ada, body: { hostId, names: ['query-count'] } })).status,
    ).toBe(200)
    expect((await send('GET', `/api/v1/compare?hosts=0,${hostId}`, ada)).status).toBe(200)
    const sentConnections = product.received
      .filter(({ method }) => method !== 'hosts')
      .map(({ call }) => call.connections)
    expect(sentConnections).toHaveLength(3)
    for (const connections of sentConnections) {
      expect([...(connections?.values() ?? [])]).toMatchObject([
        { name: 'mine', key: expect.stringContaining(`:${id}`) },
      ])
    }
  })

  it('are audited when saved, changed and deleted, without credentials', async () => {
    await using product = await start()
    const { id } = await add(product)
    const send = sendTo(product)
    await send('PUT', `${kept}/${id}`, { ...ada, body: { name: 'ours' } })
    await send('DELETE', `${kept}/${id}`, ada)
    const { body } = await send('GET', '/api/v1/audit', ada)
    const { data } = AuditResponse.parse(body)
    expect(data.map(({ action }) => action).toSorted()).toEqual([
      'change-connection',
      'forget-connection',
      'keep-connection',
    ])
    expect(data.every(({ actor, target: { id: which } }) => actor.subject === 'ada' && which === id)).toBe(true)
    expect(JSON.stringify(data)).not.toContain(target.password)
  })

  it('have audit records for their owner and for callers who may manage users', async () => {
    for (const enabled of [false, true]) {
      await using product = await start({ query: { management: async () => ({ enabled }) } })
      await add(product)
      const send = sendTo(product)
      const addressesFor = async (person: string) =>
        JSON.stringify((await send('GET', '/api/v1/audit?action=keep-connection', { 'x-test-person': person })).body)
      expect(await addressesFor('ada')).toContain('db.example.com')
      if (enabled) expect(await addressesFor('eve')).toContain('db.example.com')
      else expect(await addressesFor('eve')).not.toMatch(/db\.example\.com|"ada"|keep-connection/)
    }
  })

  it('do not exist for other users', async () => {
    await using product = await start()
    const { id, hostId } = await add(product)
    const send = sendTo(product)
    const eve = { 'x-test-person': 'eve' }
    const refused = [
      await send('GET', `/api/v1/overview?hostId=${hostId}`, eve),
      await send('PUT', `${kept}/${id}`, { ...eve, body: { name: 'mine now' } }),
      await send('DELETE', `${kept}/${id}`, eve),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(UserConnectionsResponse.parse((await send('GET', kept, eve)).body).data).toEqual([])
    expect(UserConnectionsResponse.parse((await send('GET', kept, ada)).body).data).toMatchObject([
      { id, name: 'mine' },
    ])
  })

  it('never return or log users and passwords', async () => {
    await using product = await start()
    const added = await add(product)
    const send = sendTo(product)
    const shown = [added, (await send('GET', kept, ada)).body, (await send('GET', '/api/v1/config', ada)).body]
    expect(JSON.stringify(shown)).not.toMatch(/very secret|"user":|sealed/)
    expect(product.logged.join('')).not.toMatch(/very secret|db\.example\.com/)
  })

  it('can be renamed, replaced and deleted', async () => {
    await using product = await start()
    const { id } = await add(product)
    const send = sendTo(product)
    const put = (body: unknown) => send('PUT', `${kept}/${id}`, { ...ada, body })
    expect(await put({ name: 'renamed' })).toMatchObject({ status: 200, body: { data: { id, name: 'renamed' } } })
    const elsewhere = { ...target, url: 'https://other.example.com', name: 'moved' }
    expect(await put(elsewhere)).toMatchObject({ body: { data: { id, name: 'moved', host: 'other.example.com' } } })
    // The saved password must not be sent to a new URL.
    const half = await put({ name: 'moved', url: 'https://evil.example.com' })
    expect(half).toMatchObject({ status: 400, body: { error: { details: { parameter: 'url' } } } })
    expect(await send('DELETE', `${kept}/${id}`, ada)).toMatchObject({ status: 200 })
    expect(await send('DELETE', `${kept}/${id}`, ada)).toMatchObject({ status: 404 })
    expect(await send('DELETE', `${kept}/1`, ada)).toMatchObject({ status: 400 })
  })

  it('are not saved when their test fails', async () => {
    const tested = { ok: false, reason: 'timeout', message: 'host db did not answer in time' } as const
    await using product = await start({ query: { testConnection: async () => tested } })
    const answer = await sendTo(product)('POST', kept, { ...ada, body: { ...target, name: 'mine' } })
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { reason: 'timeout' } } } })
    expect(UserConnectionsResponse.parse((await sendTo(product)('GET', kept, ada)).body).data).toEqual([])
  })

  it.each([
    ['SVC_FEATURE_USER_CONNECTIONS_DB', { env: {} }],
    ['SVC_STATE_DB_URL', { env: { SVC_FEATURE_USER_CONNECTIONS_DB: 'yes' } }],
    ['SVC_USER_CONNECTIONS_ENCRYPTION_KEY', { query: { ...fakeConnections, keepsConnections: async () => false } }],
  ])('return 501 without %s', async (missing, more) => {
    await using product = await start(more)
    for (const [method, body] of [['GET'], ['POST', { ...target, name: 'mine' }]] as const) {
      const answer = await sendTo(product)(method, kept, { ...ada, body })
      expect(answer).toMatchObject({ status: 501, body: { error: { message: expect.stringContaining(missing) } } })
    }
    const requests = await sendTo(product)('GET', '/api/v1/overview?hostId=-1', ada)
    expect([400, 404]).toContain(requests.status)
  })

  it('require sign-in where users can sign in', async () => {
    const { SVC_FEATURE_USER_CONNECTIONS_DB, SVC_STATE_DB_URL } = env()
    const idp = { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: 'https://clerk.example.com', SVC_IDP_PUBLIC_READ: 'true' }
    const open = { SVC_FEATURE_USER_CONNECTIONS_DB, SVC_STATE_DB_URL }
    let hostId: number
    {
      await using product = await start({ env: open })
      hostId = (await add(product, {})).hostId
    }
    await using product = await start({ env: { ...open, ...idp } })
    const send = sendTo(product)
    expect((await send('GET', kept)).status).toBe(401)
    expect((await send('GET', `/api/v1/overview?hostId=${hostId}`)).status).toBe(400)
  })
})
