// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startSandbox } from '../../sandbox/start.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { sendRawRequest } from './raw-request.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const shared = 'the secret of the proxy'

describe('a user with write access', () => {
  const scope = new AsyncDisposableStack()
  let address: string
  let start: (env?: Record<string, string>) => Promise<Product>
  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-people-'))
    scope.defer(() => rm(directory, { recursive: true, force: true }))
    const sandbox = scope.use(await startSandbox({ label: 'kept' }))
    address = sandbox.url
    const env = {
      SVC_AUTH_PROVIDER: 'trusted',
      SVC_TRUSTED_AUTH_SECRET: shared,
      SVC_STATE_DB_URL: `file:${directory}/state.db`,
      SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key for tests alone, long enough',
      SVC_FEATURE_USER_CONNECTIONS_DB: 'true',
      SVC_ALLOW_PRIVATE_HOSTS: 'true',
    }
    start = (more = {}) => startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env: { ...env, ...more } })
  })
  afterAll(() => scope.disposeAsync())

  const as = (person: string) => ({ 'x-svc-proxy-secret': shared, 'x-forwarded-user': person })
  const audit = async (product: Product, person: string, search = '') =>
    (await sendRawRequest(`${product.url}/api/v1/audit${search}`, { headers: as(person) })).text

  it('cannot see the connections of other users in the audit log without the permission to manage users', async () => {
    const secret = 'name-that-only-ada-knows'
    {
      await using product = await start()
      const body = JSON.stringify({ name: secret, url: address, user: 'default', password: '' })
      const kept = await sendRawRequest(`${product.url}/api/v1/user-connections`, {
        method: 'POST',
        headers: as('ada'),
        body,
      })
      expect([kept.status, kept.text]).toEqual([200, expect.stringContaining(secret)])
      const { hostId } = JSON.parse(kept.text).data
      // The audit log records these actions with the host name that Ada chose for her connection.
      const actions: [path: string, body: object][] = [
        [`actions?hostId=${hostId}`, { action: 'killQuery', params: { queryId: 'no-such-query' } }],
        ['advice/table', { hostId, database: 'system', table: 'query_log', measure: true }],
      ]
      for (const [path, body] of actions)
        await sendRawRequest(`${product.url}/api/v1/${path}`, {
          method: 'POST',
          headers: as('ada'),
          body: JSON.stringify(body),
        })
      expect(await audit(product, 'ada')).toContain('measure-codecs')
      expect(await audit(product, 'ada')).toContain(secret)
      for (const search of ['', '?subject=ada', '?action=keep-connection', '?limit=1000', `?host=${secret}`]) {
        const seen = await audit(product, 'eve', search)
        expect(JSON.parse(seen)).toMatchObject({ success: true })
        expect(seen).not.toContain(secret)
        expect(seen).not.toContain('measure-codecs')
        expect(seen).not.toContain(new URL(address).host)
      }
    }
    await using managing = await start({ COLUMNDB_MANAGEMENT_ENABLED: 'true' })
    expect(await audit(managing, 'eve')).toContain(secret)
  })
})

describe('a bearer token at the tool server without the secret key of the provider', () => {
  let product: Product
  beforeAll(async () => {
    const provider = { SVC_AUTH_PROVIDER: 'idp', SVC_IDP_PUBLISHABLE_KEY: 'pk_any_key', SVC_MCP_PUBLIC: 'true' }
    product = await startProduct({ hosts: [{ url: 'http://127.0.0.1:1' }], env: provider })
  })
  afterAll(() => product?.stop())

  it.each([
    ['of the provider', 'oat_of_someone'],
    ['of no key', 'svc_forged'],
    ['in the shape of a session', 'a.b.c'],
    ['of great length', 'x'.repeat(5_000)],
  ])('%s gets 401', async (_what, bearer) => {
    const headers = { authorization: `Bearer ${bearer}` }
    const answer = await sendRawRequest(`${product.url}/api/mcp`, { method: 'POST', headers, body: '{}' })
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, expect.stringContaining('invalid_token')])
  })
})
