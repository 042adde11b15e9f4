import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'nats'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConnectionSessionResponse, ConnectionTestResponse, UserConnectionResponse } from '#proto/http/connections.ts'
import { ChartResponse, HostsResponse, HostStatusResponse, TableResponse } from '#proto/http/data.ts'
import type { Sandbox } from '../sandbox/start.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { startNats } from '../testing/describe-with.ts'
import { describeOnTopologies } from '../testing/topologies.ts'
import { startSeededHost } from '../testing/seeded-hosts.ts'

const encryptionKey = 'a key that only the operator knows'
const json = { 'content-type': 'application/json' }

describeOnTopologies('user-supplied connections', (topology) => {
  let own: Sandbox
  let directory: string
  let product: Product
  let closed: Product
  let bus: Overheard | undefined

  beforeAll(async () => {
    own = await startSeededHost('one')
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-connections-'))
    const open = {
      SVC_ALLOW_PRIVATE_HOSTS: 'true',
      SVC_FEATURE_USER_CONNECTIONS_DB: 'true',
      SVC_USER_CONNECTIONS_ENCRYPTION_KEY: encryptionKey,
      ...(topology === 'memory' && { SVC_STATE_DB_URL: `file:${directory}/state.db` }),
    }
    const hosts = [{ url: own.url.replace('127.0.0.1', '127.0.0.2'), name: 'not there' }]
    if (topology === 'nats') bus = await overhearBus()
    product = await startProduct({ topology, hosts, env: { ...open, ...(bus && { NATS_URL: bus.url }) } })
    closed = await startProduct({ topology, hosts, env: {} })
  })
  afterAll(async () => {
    await product?.stop()
    await closed?.stop()
    await bus?.[Symbol.asyncDispose]()
    await own?.[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  const target = () => ({ url: own.url, user: 'default', password: '' })
  const post = (to: Product, path: string, body: unknown) =>
    fetchJson(`${to.url}${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) })
  const openSession = async () =>
    ConnectionSessionResponse.parse((await post(product, '/api/v1/browser-connections/sessions', target())).body).data
  const sizes = async () => {
    const sql = `SELECT concat(database, '.', table) AS table, sum(rows) AS rows FROM system.parts
      WHERE active AND database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')
      GROUP BY table ORDER BY sum(data_compressed_bytes) DESC, table LIMIT 20`
    return queryClickHouse(own.url, sql)
  }
  const expectItsChart = async (path: string, headers: Record<string, string> = {}) => {
    const both = async () => {
      const { body } = await fetchJson(`${product.url}${path}`, { headers })
      return { shown: ChartResponse.parse(body).data.map(({ table, rows }) => ({ table, rows })), said: await sizes() }
    }
    // A merge between the two requests changes the sizes, so both are repeated until they match.
    const { shown } = await retryUntil(both, ({ shown, said }) => JSON.stringify(shown) === JSON.stringify(said))
    expect(shown.length).toBeGreaterThan(3)
  }

  it('are tested: the result is the version or the reason of the failure', async () => {
    const path = '/api/v1/browser-connections/test'
    const [said] = await queryClickHouse(own.url, 'SELECT version() AS version')
    expect(ConnectionTestResponse.parse((await post(product, path, target())).body).data).toMatchObject({
      ok: true,
      ...said,
    })
    const wrong = await post(product, path, { ...target(), password: 'wrong-password' })
    expect(ConnectionTestResponse.parse(wrong.body).data).toMatchObject({ ok: false, reason: 'refused' })
    expect(wrong.text).not.toContain('wrong-password')
  })

  it('are queried through a session: charts, table pages, status and SQL', async () => {
    const { token, header } = await openSession()
    const headers = { [header]: token }
    await expectItsChart('/api/v1/charts/top-table-size', headers)
    const table = await fetchJson(`${product.url}/api/v1/tables/settings?limit=1`, { headers })
    expect(TableResponse.parse(table.body).data).toHaveLength(1)
    const status = await fetchJson(`${product.url}/api/v1/host-status?hostId=0`, { headers })
    expect(HostStatusResponse.parse(status.body).metadata.host).toBe(new URL(own.url).host)
    const sql = { method: 'POST', headers: { ...json, ...headers }, body: '{"query":"SELECT currentUser() AS me"}' }
    const answered = await fetchJson(`${product.url}/api/v1/explorer/query`, sql)
    expect(answered, answered.text).toMatchObject({ status: 200 })
    expect(answered.text).toContain('default')
  })

  it('survive a restart of `query`, because the token contains the session', { tags: ['long'] }, async () => {
    const { token, header } = await openSession()
    await product.query.restart()
    await expectItsChart('/api/v1/charts/top-table-size', { [header]: token })
  })

  it('are stored with a negative id, and survive a restart', { tags: ['long'] }, async () => {
    const added = await post(product, '/api/v1/user-connections', { ...target(), name: 'mine' })
    expect(added, added.text).toMatchObject({ status: 200 })
    const { hostId } = UserConnectionResponse.parse(added.body).data
    await expectItsChart(`/api/v1/charts/top-table-size?hostId=${hostId}`)
    await product.query.restart()
    await expectItsChart(`/api/v1/charts/top-table-size?hostId=${hostId}`)
    const { data } = HostsResponse.parse((await fetchJson(`${product.url}/api/v1/hosts`)).body)
    expect(data.map(({ id, name }) => ({ id, name }))).toEqual([
      { id: 0, name: 'not there' },
      { id: hostId, name: 'mine' },
    ])
  })

  it('cannot connect to private networks unless the operator allows it', async () => {
    for (const path of ['test', 'sessions']) {
      const refused = await post(closed, `/api/v1/browser-connections/${path}`, target())
      expect(refused.status).toBe(400)
      expect(refused.text).toContain('url is not an address that this installation may connect to')
    }
    const kept = await post(closed, '/api/v1/user-connections', { ...target(), name: 'mine' })
    expect(kept.status).toBe(501)
  })

  it('leave no passwords in the output of any process', async () => {
    const secret = 'a-very-secret-password'
    const test = await post(product, '/api/v1/browser-connections/test', { ...target(), password: secret })
    expect(test.status).toBe(200)
    expect(product.output()).not.toContain(secret)
    expect(product.output()).not.toContain(encryptionKey)
    if (bus === undefined) return
    expect(bus.messages.filter((message) => message.includes('"encryptedTarget":"'))).not.toEqual([])
    expect(bus.messages.filter((message) => message.includes(secret))).toEqual([])
  })
})

interface Overheard extends AsyncDisposable {
  url: string
  /** Subject and body of all messages on the bus so far. */
  messages: readonly string[]
}

const overhearBus = async (): Promise<Overheard> => {
  const server = await startNats({ private: true })
  const connection = await connect({ servers: server.url })
  const messages: string[] = []
  connection.subscribe('>', { callback: (_error, message) => messages.push(`${message.subject} ${message.string()}`) })
  await connection.flush()
  const stop = async () => {
    await connection.close()
    await server.stop()
  }
  return { url: server.url, messages, [Symbol.asyncDispose]: stop }
}
