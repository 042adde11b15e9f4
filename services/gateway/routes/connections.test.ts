import { clockOf } from '#shared/time/clock.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { AuditAnswer } from '#proto/http/audit.ts'
import { ConnectionSessionAnswer, UserConnectionAnswer, UserConnectionsAnswer } from '#proto/http/connections.ts'
import { HostsAnswer } from '#proto/http/data.ts'
import { FleetAnswer } from '#proto/http/fleet.ts'
import { fakeConnections } from '../testing/query-writes.ts'
import { type FakeProduct, startFake } from '../testing/start.ts'
import { anonymous } from '../auth/identity.ts'

const target = { url: 'https://db.example.com:8443', user: 'ada', password: 'very secret' }
const sessions = '/api/v1/browser-connections/sessions'
const kept = '/api/v1/user-connections'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-connections-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** A person whose name stands in a header of the test. */
const byHeader = async ({ headers }: { headers: Record<string, unknown> }): Promise<Identity> =>
  headers['x-test-person'] === undefined
    ? anonymous
    : { kind: 'user', subject: String(headers['x-test-person']), features: 'all' }

const asking =
  (product: FakeProduct) =>
  async (method: string, path: string, { body, ...headers }: Record<string, unknown> & { body?: unknown } = {}) => {
    const sent = { 'content-type': 'application/json', ...(headers as Record<string, string>) }
    const response = await fetch(product.url + path, { method, headers: sent, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as unknown }
  }

describe('a session on a database that the caller brings', () => {
  const open = async (product: FakeProduct, headers: Record<string, string> = {}) => {
    const { body } = await asking(product)('POST', sessions, { body: { ...target, name: 'Größe' }, ...headers })
    return ConnectionSessionAnswer.parse(body).data
  }

  it('is a token of fifteen minutes, after the connection has been tried', async () => {
    await using product = await startFake({ clock: clockOf(() => Date.UTC(2026, 0, 1)) })
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
    expect(product.heard.map(({ method }) => method)).toEqual(['connectionKey', 'testConnection', 'sealConnection'])
  })

  it('crosses the bus without its address, user and password in clear, tried, opened or kept', async () => {
    const env = { SVC_FEATURE_USER_CONNECTIONS_DB: 'yes', SVC_STATE_DB_URL: `file:${directory}/clear.db` }
    await using product = await startFake({ env })
    const ask = asking(product)
    await ask('POST', '/api/v1/browser-connections/test', { body: target })
    await open(product)
    const { body } = await ask('POST', kept, { body: { ...target, name: 'mine' } })
    const { id } = UserConnectionAnswer.parse(body).data
    expect((await ask('PUT', `${kept}/${id}`, { body: { ...target, name: 'mine' } })).status).toBe(200)
    expect(product.heard.filter(({ input }) => 'encryptedTarget' in input)).toHaveLength(7)
    expect(JSON.stringify(product.heard)).not.toMatch(/very secret|"ada"|db\.example\.com/)
  })

  it.each([
    '/api/v1/charts/query-count',
    '/api/v1/tables/running-queries',
    '/api/v1/overview?hostId=0',
    '/api/v1/fleet',
  ])('takes the place of the host list for %s', async (path) => {
    await using product = await startFake()
    const { token } = await open(product)
    product.heard.length = 0
    const { status } = await asking(product)('GET', path, { 'x-connection-session': token })
    expect(status).toBe(200)
    const [heard] = product.heard
    expect(heard?.input.hostKey).toMatch(/^user:[\w-]{22}:[\w-]{22}$/)
    const brought = heard?.call.connections?.get(String(heard.input.hostKey))
    expect(brought).toMatchObject({ name: 'Größe', sealed: `fake.${String(heard?.input.hostKey)}.Größe` })
  })

  it('shows that host alone, and no other under any number', async () => {
    await using product = await startFake()
    const { token } = await open(product)
    const ask = asking(product)
    const { body } = await ask('GET', '/api/v1/hosts', { 'x-connection-session': token })
    expect(HostsAnswer.parse(body).data).toEqual([
      { id: 0, name: 'Größe', host: 'db.example.com:8443', group: null, tags: [] },
    ])
    const other = await ask('GET', '/api/v1/overview?hostId=1', { 'x-connection-session': token })
    expect(other).toMatchObject({ status: 404, body: { error: { message: 'no such host: 1; there are 0 (Größe)' } } })
  })

  it('is the whole fleet, as the host says it is now', async () => {
    await using product = await startFake({ alerts: {} })
    const { token } = await open(product)
    const { body } = await asking(product)('GET', '/api/v1/fleet', { 'x-connection-session': token })
    const { data, metadata } = FleetAnswer.parse(body)
    expect(data).toMatchObject([
      { id: 0, name: 'Größe', status: 'up', version: '26.3.1', load: { queries: 2, cpu: 25 } },
    ])
    expect(metadata).toEqual({ oldestMs: 0, findingsBy: [] })
  })

  it('is refused where only configured hosts are told of, and leaves the health of the installation as it is', async () => {
    await using product = await startFake({ mcp: {}, env: { SVC_MCP_PUBLIC: 'true' } })
    const headers = { 'x-connection-session': (await open(product)).token }
    const ask = asking(product)
    const refused = [
      await ask('GET', '/api/v1/metrics', headers),
      await ask('POST', '/api/mcp', { ...headers, body: {} }),
    ]
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 400, body: { error: { details: { parameter: 'x-connection-session' } } } })
    }
    expect(await ask('GET', '/api/healthz', headers)).toEqual(await ask('GET', '/api/healthz'))
  })

  it('has another key in the hands of somebody else, under which it will not open', async () => {
    await using product = await startFake({ identify: byHeader })
    const { token } = await open(product, { 'x-test-person': 'ada' })
    const keyFor = async (person: string) => {
      product.heard.length = 0
      const headers = { 'x-connection-session': token, 'x-test-person': person }
      await asking(product)('GET', '/api/v1/overview?hostId=0', headers)
      return product.heard[0]?.input.hostKey
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
  ])('is refused without asking anybody when its token is none: %j', async (token) => {
    await using product = await startFake()
    const answer = await asking(product)('GET', '/api/v1/overview?hostId=0', { 'x-connection-session': token })
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { parameter: 'x-connection-session' } } } })
    expect(product.heard).toEqual([])
  })

  it('is not opened on a connection that does not work, and says why', async () => {
    const tested = { ok: false, reason: 'refused', message: 'host db refused the user or password' } as const
    await using product = await startFake({ query: { testConnection: async () => tested } })
    const answer = await asking(product)('POST', sessions, { body: target })
    expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid', details: { reason: 'refused' } } } })
    const test = await asking(product)('POST', '/api/v1/browser-connections/test', { body: target })
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
  ])('names what is wrong in %j', async (body, parameter) => {
    await using product = await startFake()
    const answer = await asking(product)('POST', sessions, { body })
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { parameter } } } })
    expect(JSON.stringify(answer.body)).not.toContain('very secret')
  })

  it('is counted per address, apart for each of the two routes', async () => {
    await using product = await startFake({ env: { RATE_LIMIT_BROWSER_CONN_PER_MIN: '2' } })
    const ask = asking(product)
    const statuses = async (path: string) =>
      Promise.all([1, 2, 3].map(async () => (await ask('POST', path, { body: target })).status))
    expect((await statuses(sessions)).toSorted()).toEqual([200, 200, 429])
    expect((await statuses('/api/v1/browser-connections/test')).toSorted()).toEqual([200, 200, 429])
  })
})

describe('connections that people keep', () => {
  const env = () => ({
    SVC_FEATURE_USER_CONNECTIONS_DB: 'yes',
    SVC_STATE_DB_URL: `file:${directory}/${crypto.randomUUID()}.db`,
  })
  const start = (more: Parameters<typeof startFake>[0] = {}) => startFake({ env: env(), identify: byHeader, ...more })
  const ada = { 'x-test-person': 'ada' }
  const add = async (product: FakeProduct, headers: Record<string, string> = ada) => {
    const { body } = await asking(product)('POST', kept, { ...headers, body: { ...target, name: 'mine' } })
    return UserConnectionAnswer.parse(body).data
  }

  it('are hosts with negative ids, for their owner, in every route', async () => {
    await using product = await start()
    const { id, hostId } = await add(product)
    expect(hostId).toBeLessThan(0)
    const ask = asking(product)
    const { body } = await ask('GET', '/api/v1/hosts', ada)
    expect(HostsAnswer.parse(body).data.at(-1)).toMatchObject({ id: hostId, name: 'mine', host: 'db.example.com:8443' })
    product.heard.length = 0
    expect((await ask('GET', `/api/v1/overview?hostId=${hostId}`, ada)).status).toBe(200)
    expect(
      (await ask('POST', '/api/v1/charts/batch', { ...ada, body: { hostId, names: ['query-count'] } })).status,
    ).toBe(200)
    expect((await ask('GET', `/api/v1/compare?hosts=0,${hostId}`, ada)).status).toBe(200)
    const brought = product.heard.filter(({ method }) => method !== 'hosts').map(({ call }) => call.connections)
    expect(brought).toHaveLength(3)
    for (const connections of brought) {
      expect([...(connections?.values() ?? [])]).toMatchObject([
        { name: 'mine', key: expect.stringContaining(`:${id}`) },
      ])
    }
  })

  it('are on record when they are kept, changed and forgotten, without what opens them', async () => {
    await using product = await start()
    const { id } = await add(product)
    const ask = asking(product)
    await ask('PUT', `${kept}/${id}`, { ...ada, body: { name: 'ours' } })
    await ask('DELETE', `${kept}/${id}`, ada)
    const { body } = await ask('GET', '/api/v1/audit', ada)
    const { data } = AuditAnswer.parse(body)
    expect(data.map(({ action }) => action).toSorted()).toEqual([
      'change-connection',
      'forget-connection',
      'keep-connection',
    ])
    expect(data.every(({ actor, target: { id: which } }) => actor.subject === 'ada' && which === id)).toBe(true)
    expect(JSON.stringify(data)).not.toContain(target.password)
  })

  it('are on record for the person alone, and for those who may manage users', async () => {
    for (const enabled of [false, true]) {
      await using product = await start({ query: { management: async () => ({ enabled }) } })
      await add(product)
      const ask = asking(product)
      const addressesFor = async (person: string) =>
        JSON.stringify((await ask('GET', '/api/v1/audit?action=keep-connection', { 'x-test-person': person })).body)
      expect(await addressesFor('ada')).toContain('db.example.com')
      if (enabled) expect(await addressesFor('eve')).toContain('db.example.com')
      else expect(await addressesFor('eve')).not.toMatch(/db\.example\.com|"ada"|keep-connection/)
    }
  })

  it('belong to one person: for another they are not there', async () => {
    await using product = await start()
    const { id, hostId } = await add(product)
    const ask = asking(product)
    const eve = { 'x-test-person': 'eve' }
    const refused = [
      await ask('GET', `/api/v1/overview?hostId=${hostId}`, eve),
      await ask('PUT', `${kept}/${id}`, { ...eve, body: { name: 'mine now' } }),
      await ask('DELETE', `${kept}/${id}`, eve),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(UserConnectionsAnswer.parse((await ask('GET', kept, eve)).body).data).toEqual([])
    expect(UserConnectionsAnswer.parse((await ask('GET', kept, ada)).body).data).toMatchObject([{ id, name: 'mine' }])
  })

  it('never show a user or a password again, nor log them', async () => {
    await using product = await start()
    const added = await add(product)
    const ask = asking(product)
    const shown = [added, (await ask('GET', kept, ada)).body, (await ask('GET', '/api/v1/config', ada)).body]
    expect(JSON.stringify(shown)).not.toMatch(/very secret|"user":|sealed/)
    expect(product.logged.join('')).not.toMatch(/very secret|db\.example\.com/)
  })

  it('are renamed alone, replaced whole, and forgotten', async () => {
    await using product = await start()
    const { id } = await add(product)
    const ask = asking(product)
    const put = (body: unknown) => ask('PUT', `${kept}/${id}`, { ...ada, body })
    expect(await put({ name: 'renamed' })).toMatchObject({ status: 200, body: { data: { id, name: 'renamed' } } })
    const elsewhere = { ...target, url: 'https://other.example.com', name: 'moved' }
    expect(await put(elsewhere)).toMatchObject({ body: { data: { id, name: 'moved', host: 'other.example.com' } } })
    // The kept password must not follow an address that somebody else put there.
    const half = await put({ name: 'moved', url: 'https://evil.example.com' })
    expect(half).toMatchObject({ status: 400, body: { error: { details: { parameter: 'url' } } } })
    expect(await ask('DELETE', `${kept}/${id}`, ada)).toMatchObject({ status: 200 })
    expect(await ask('DELETE', `${kept}/${id}`, ada)).toMatchObject({ status: 404 })
    expect(await ask('DELETE', `${kept}/1`, ada)).toMatchObject({ status: 400 })
  })

  it('are not kept when they do not work', async () => {
    const tested = { ok: false, reason: 'timeout', message: 'host db did not answer in time' } as const
    await using product = await start({ query: { testConnection: async () => tested } })
    const answer = await asking(product)('POST', kept, { ...ada, body: { ...target, name: 'mine' } })
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { reason: 'timeout' } } } })
    expect(UserConnectionsAnswer.parse((await asking(product)('GET', kept, ada)).body).data).toEqual([])
  })

  it.each([
    ['SVC_FEATURE_USER_CONNECTIONS_DB', { env: {} }],
    ['SVC_STATE_DB_URL', { env: { SVC_FEATURE_USER_CONNECTIONS_DB: 'yes' } }],
    ['SVC_USER_CONNECTIONS_ENCRYPTION_KEY', { query: { ...fakeConnections, keepsConnections: async () => false } }],
  ])('are not implemented without %s', async (missing, more) => {
    await using product = await start(more)
    for (const [method, body] of [['GET'], ['POST', { ...target, name: 'mine' }]] as const) {
      const answer = await asking(product)(method, kept, { ...ada, body })
      expect(answer).toMatchObject({ status: 501, body: { error: { message: expect.stringContaining(missing) } } })
    }
    const asked = await asking(product)('GET', '/api/v1/overview?hostId=-1', ada)
    expect([400, 404]).toContain(asked.status)
  })

  it('belong to nobody who is unknown where people can sign in', async () => {
    const { SVC_FEATURE_USER_CONNECTIONS_DB, SVC_STATE_DB_URL } = env()
    const idp = { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: 'https://clerk.example.com', SVC_IDP_PUBLIC_READ: 'true' }
    const open = { SVC_FEATURE_USER_CONNECTIONS_DB, SVC_STATE_DB_URL }
    let hostId: number
    {
      await using product = await start({ env: open })
      hostId = (await add(product, {})).hostId
    }
    await using product = await start({ env: { ...open, ...idp } })
    const ask = asking(product)
    expect((await ask('GET', kept)).status).toBe(401)
    expect((await ask('GET', `/api/v1/overview?hostId=${hostId}`)).status).toBe(400)
  })
})
