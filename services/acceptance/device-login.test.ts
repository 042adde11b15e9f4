import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  ApiKeyResponse,
  CliDiscovery,
  DeviceCodeResponse,
  OAuthErrorResponse,
  TokenResponse,
} from '#proto/http/auth.ts'
import { type JsonResponse, fetchJson } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const secret = 'operator-secret-of-the-device-test'
const proxySecret = 'proxy-secret-of-the-device-test'
/** The product needs a host, but these tests do not query it. Nothing listens at this address. */
const hosts = [{ url: 'http://127.0.0.1:9', name: 'silent' }]
const keys = { SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'true' }
const proxied = { SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: proxySecret }

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const adasBrowser = { 'x-svc-proxy-secret': proxySecret, 'x-forwarded-user': 'ada' }

const begin = async (product: Product) => {
  const body = new URLSearchParams({ client_id: 'watch', scope: 'read' })
  return DeviceCodeResponse.parse((await fetchJson(`${product.url}/auth/device/code`, { method: 'POST', body })).body)
}

const poll = (product: Product, deviceCode: string): Promise<JsonResponse> => {
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: deviceCode,
  })
  return fetchJson(`${product.url}/auth/token`, { method: 'POST', body })
}
const errorOf = ({ body }: JsonResponse): string => OAuthErrorResponse.parse(body).error

const approve = (product: Product, userCode: string, credentials: Record<string, string>): Promise<JsonResponse> =>
  fetchJson(`${product.url}/api/v1/auth/device/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials },
    body: JSON.stringify({ user_code: userCode }),
  })

describeOnTopologies('a command-line client', (topology) => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct({ topology, hosts, env: { ...keys, ...proxied } })
  })
  afterAll(() => product[Symbol.asyncDispose]())

  const hostsWith = async (headers: Record<string, string>) =>
    (await fetchJson(`${product.url}/api/v1/hosts`, { headers })).status

  it('signs in with a code that a user approves in a browser, and out by revoking its key', async () => {
    expect(await hostsWith({})).toBe(401)
    const discovery = CliDiscovery.parse((await fetchJson(`${product.url}/api/v1/auth/cli`)).body)
    expect(discovery).toMatchObject({ method: 'device', authProvider: 'trusted' })

    const { device_code, user_code } = await begin(product)
    expect(errorOf(await poll(product, device_code))).toBe('authorization_pending')
    expect((await approve(product, user_code, bearer(secret))).status).toBe(401)
    expect((await approve(product, user_code, adasBrowser)).status).toBe(200)
    const exchanges = await Promise.all([poll(product, device_code), poll(product, device_code)])
    expect(exchanges.map(({ status }) => status).toSorted()).toEqual([200, 400])
    const granted = exchanges.find(({ status }) => status === 200)
    const { access_token: token } = TokenResponse.parse(granted?.body)

    expect(await hostsWith(bearer(token))).toBe(200)
    expect(await hostsWith({ 'x-api-key': token })).toBe(200)
    const me = await fetchJson(`${product.url}/api/v1/auth/me`, { headers: bearer(token) })
    expect(me.body).toMatchObject({ data: { kind: 'key', subject: 'ada', may: { read: true, write: false } } })

    const listed = await fetchJson(`${product.url}/api/v1/auth/api-keys`, { headers: adasBrowser })
    expect(listed.body).toMatchObject({ data: [{ label: 'watch', subject: 'ada', scopes: ['read'] }] })
    const id = /"id":"(?<id>[\w-]+)"/.exec(listed.text)?.groups?.id
    const ended = await fetchJson(`${product.url}/api/v1/auth/api-keys/${id}`, {
      method: 'DELETE',
      headers: adasBrowser,
    })
    expect(ended.status).toBe(200)
    expect(await hostsWith(bearer(token))).toBe(401)
    for (const hidden of [secret, proxySecret, device_code, token]) expect(product.output()).not.toContain(hidden)
  })

  it('signs in with a key of the operator until it is revoked', async () => {
    const headers = { 'content-type': 'application/json', ...bearer(secret) }
    const body = JSON.stringify({ label: 'ci', days: 1 })
    const issued = await fetchJson(`${product.url}/api/v1/auth/api-key`, { method: 'POST', headers, body })
    const { apiKey, id } = ApiKeyResponse.parse(issued.body).data
    expect(await hostsWith(bearer(apiKey))).toBe(200)
    await fetchJson(`${product.url}/api/v1/auth/api-keys/${id}`, { method: 'DELETE', headers: bearer(secret) })
    expect(await hostsWith(bearer(apiKey))).toBe(401)
  })
})

describe('device codes in the edge SQL binding', { tags: ['long'] }, () => {
  vi.setConfig({ testTimeout: 90_000 })

  it('outlive the process that issued them, and the operator approves them without a provider', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-device-'))
    const binding = { CONVERSATIONS_EDGESQL: `file:${join(directory, 'edge.db')}` }
    await using product = await startProduct({ hosts, env: { ...keys, ...binding } })
    const discovery = CliDiscovery.parse((await fetchJson(`${product.url}/api/v1/auth/cli`)).body)
    expect(discovery.deviceLogin).toMatchObject({ store: 'edgesql', deviceOnly: true })

    const { device_code, user_code } = await begin(product)
    await product.gateway.kill()
    await product.gateway.restart()
    expect((await approve(product, user_code, bearer(secret))).body).toMatchObject({ data: { subject: 'self-hosted' } })
    const { access_token: token } = TokenResponse.parse((await poll(product, device_code)).body)
    expect((await fetchJson(`${product.url}/api/v1/hosts`, { headers: bearer(token) })).status).toBe(200)
    expect(errorOf(await poll(product, device_code))).toBe('invalid_grant')
    await product.stop()
    await rm(directory, { recursive: true, force: true })
  })
})
