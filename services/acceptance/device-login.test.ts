import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Client } from '../client/client.ts'
import { createProductClient, type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const secret = 'operator-secret-of-the-device-test'
const proxySecret = 'proxy-secret-of-the-device-test'
/** The product needs a host, but these tests do not query it. Nothing listens at this address. */
const hosts = [{ url: 'http://127.0.0.1:9', name: 'silent' }]
const keys = { SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'true' }
const proxied = { SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: proxySecret }

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const adasBrowser = { 'x-svc-proxy-secret': proxySecret, 'x-forwarded-user': 'ada' }

const begin = (product: Product) =>
  createProductClient(product).call('POST /auth/device/code', { body: { client_id: 'watch', scope: 'read' } })
const poll = (product: Product, deviceCode: string) => {
  const body = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: deviceCode }
  return createProductClient(product).call('POST /auth/token', { body })
}
const approve = (product: Product, userCode: string, headers: Record<string, string>) =>
  createProductClient(product).call('POST /api/v1/auth/device/approve', { body: { user_code: userCode }, headers })

describeOnTopologies('a command-line client', (topology) => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct({ topology, hosts, env: { ...keys, ...proxied } })
  })
  afterAll(() => product[Symbol.asyncDispose]())

  const client = (): Client => createProductClient(product)
  const hostsWith = (headers: Record<string, string>) => client().call('GET /api/v1/hosts', { headers })
  const unauthenticated = { status: 401, code: 'unauthenticated' }

  it('signs in with a code that a user approves in a browser, and out by revoking its key', async () => {
    await expect(hostsWith({})).rejects.toMatchObject(unauthenticated)
    expect(await client().call('GET /api/v1/auth/cli')).toMatchObject({ method: 'device', authProvider: 'trusted' })

    const { device_code, user_code } = await begin(product)
    await expect(poll(product, device_code)).rejects.toMatchObject({ type: 'authorization_pending' })
    await expect(approve(product, user_code, bearer(secret))).rejects.toMatchObject(unauthenticated)
    expect(await approve(product, user_code, adasBrowser)).toMatchObject({ success: true })
    const exchanges = await Promise.allSettled([poll(product, device_code), poll(product, device_code)])
    const [granted, ...others] = exchanges.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(others).toEqual([])
    const { access_token: token = '' } = granted ?? {}

    expect(await hostsWith(bearer(token))).toMatchObject({ success: true })
    expect(await hostsWith({ 'x-api-key': token })).toMatchObject({ success: true })
    const me = await client().call('GET /api/v1/auth/me', { headers: bearer(token) })
    expect(me).toMatchObject({ data: { kind: 'key', subject: 'ada', may: { read: true, write: false } } })

    const listed = await client().call('GET /api/v1/auth/api-keys', { headers: adasBrowser })
    expect(listed).toMatchObject({ data: [{ label: 'watch', subject: 'ada', scopes: ['read'] }] })
    const path = { id: listed.data[0]?.id ?? '' }
    await client().call('DELETE /api/v1/auth/api-keys/{id}', { path, headers: adasBrowser })
    await expect(hostsWith(bearer(token))).rejects.toMatchObject(unauthenticated)
    for (const hidden of [secret, proxySecret, device_code, token]) expect(product.output()).not.toContain(hidden)
  })

  it('signs in with a key of the operator until it is revoked', async () => {
    const operator = createProductClient(product, { apiKey: secret })
    const issued = await operator.call('POST /api/v1/auth/api-key', { body: { label: 'ci', days: 1 } })
    const { apiKey, id } = issued.data
    expect(await hostsWith(bearer(apiKey))).toMatchObject({ success: true })
    await operator.call('DELETE /api/v1/auth/api-keys/{id}', { path: { id } })
    await expect(hostsWith(bearer(apiKey))).rejects.toMatchObject(unauthenticated)
  })
})

describe('device codes in the edge SQL binding', { tags: ['long'] }, () => {
  vi.setConfig({ testTimeout: 90_000 })

  it('outlive the process that issued them, and the operator approves them without a provider', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-device-'))
    const binding = { CONVERSATIONS_EDGESQL: `file:${join(directory, 'edge.db')}` }
    await using product = await startProduct({ hosts, env: { ...keys, ...binding } })
    const discovery = await createProductClient(product).call('GET /api/v1/auth/cli')
    expect(discovery.deviceLogin).toMatchObject({ store: 'edgesql', deviceOnly: true })

    const { device_code, user_code } = await begin(product)
    await product.gateway.kill()
    await product.gateway.restart()
    expect(await approve(product, user_code, bearer(secret))).toMatchObject({ data: { subject: 'self-hosted' } })
    const { access_token: apiKey } = await poll(product, device_code)
    expect(await createProductClient(product, { apiKey }).call('GET /api/v1/hosts')).toMatchObject({ success: true })
    await expect(poll(product, device_code)).rejects.toMatchObject({ type: 'invalid_grant' })
    await product.stop()
    await rm(directory, { recursive: true, force: true })
  })
})
