import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiKeyResponse } from '#proto/http/auth.ts'
import { MeResponse } from '#proto/http/session.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const operatorSecret = 'operator-secret-of-the-sign-in-test'
const proxySecret = 'proxy-secret-of-the-sign-in-test'
/** The product needs a host, but these tests do not query it. Nothing listens at this address. */
const hosts = [{ url: 'http://127.0.0.1:9', name: 'silent' }]
const json = { 'content-type': 'application/json' }

describeOnTopologies('users sign in', (topology) => {
  let product: Product
  beforeAll(async () => {
    const env = {
      SVC_API_KEY_SECRET: operatorSecret,
      SVC_AUTH_PROVIDER: 'trusted',
      SVC_TRUSTED_AUTH_SECRET: proxySecret,
      SVC_TRUSTED_ALLOWED_GROUPS: 'ops',
    }
    product = await startProduct({ topology, hosts, env })
  })
  afterAll(() => product[Symbol.asyncDispose]())

  const named = (groups: string) => ({
    'x-svc-proxy-secret': proxySecret,
    'x-forwarded-user': 'josé',
    'x-forwarded-preferred-username': '山田 太郎',
    'x-forwarded-groups': groups,
  })
  const latin1 = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')]))
  const fleet = (headers: Record<string, string>) =>
    fetchJson(`${product.url}/api/v1/fleet`, { headers: latin1(headers) })

  it('through a proxy, with their own identity in all services', async () => {
    expect((await fleet(named('ops'))).status).toBe(200)
    const { body } = await fetchJson(`${product.url}/api/v1/auth/me`, { headers: latin1(named('ops')) })
    expect(MeResponse.parse(body).data).toMatchObject({ subject: 'josé', name: '山田 太郎', groups: ['ops'] })
  })

  it('through a proxy, only with one of the groups', async () => {
    expect((await fleet(named('dev'))).status).toBe(403)
    expect((await fleet({ ...named('ops'), 'x-svc-proxy-secret': 'another' })).status).toBe(401)
  })

  it('in a browser with a key, until they sign out or the key is revoked', async () => {
    const issue = { method: 'POST', headers: { ...json, authorization: `Bearer ${operatorSecret}` } }
    const issued = await fetchJson(`${product.url}/api/v1/auth/api-key`, {
      ...issue,
      body: '{"label":"laptop","scopes":["read"]}',
    })
    const { apiKey: key, id } = ApiKeyResponse.parse(issued.body).data
    const session = `${product.url}/api/v1/auth/session`
    const signedIn = await fetchJson(session, { method: 'POST', headers: json, body: JSON.stringify({ key }) })
    expect(signedIn.status).toBe(200)
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await fleet({ cookie })).status).toBe(200)

    const signedOut = await fetchJson(session, { method: 'DELETE', headers: { cookie } })
    expect(signedOut.headers.get('set-cookie')).toContain('watchhouse_key=; Max-Age=0')
    const ended = await fetchJson(`${product.url}/api/v1/auth/api-keys/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${operatorSecret}` },
    })
    expect(ended.status).toBe(200)
    expect((await fleet({ cookie })).status).toBe(401)
    expect(product.output()).not.toContain(key)
  })
})
