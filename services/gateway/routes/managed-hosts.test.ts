import { describe, expect, it } from 'vitest'
import { AuditResponse } from '#proto/http/audit.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const target = { url: 'https://db.example.com:8443', user: 'ada', password: 'very secret' }
const id = 'a'.repeat(22)

const sendTo =
  (product: FakeProduct) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const sent = { 'content-type': 'application/json', ...headers }
    const response = await fetch(product.url + path, { method, headers: sent, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as unknown }
  }

describe('an added host', () => {
  it('is checked, added, changed and removed, and every change is audited without secrets', async () => {
    await using product = await startFakeProduct()
    const send = sendTo(product)
    expect(await send('POST', '/api/v1/hosts/check', target)).toMatchObject({
      status: 200,
      body: { data: { ok: true, version: '26.3.1', rights: expect.any(Array) } },
    })
    const added = await send('POST', '/api/v1/hosts', { ...target, label: 'own', tags: ['hot'] })
    expect(added).toMatchObject({ status: 200, body: { data: { hostId: 2, label: 'own' } } })
    expect(await send('PUT', `/api/v1/hosts/${id}`, { label: 'renamed' })).toMatchObject({ status: 200 })
    expect(await send('PUT', `/api/v1/hosts/${id}`, { ...target, label: 'renamed' })).toMatchObject({ status: 200 })
    expect(await send('DELETE', `/api/v1/hosts/${id}`)).toMatchObject({ status: 200, body: { data: { hostId: null } } })

    const inputs = product.received.map(({ method, input }) => [method, 'encryptedTarget' in input])
    expect(inputs.filter(([method]) => method === 'changeHost').map(([, hasTarget]) => hasTarget)).toEqual([
      false,
      true,
    ])
    const { data } = AuditResponse.parse((await send('GET', '/api/v1/audit?limit=10')).body)
    expect(data.map(({ action }) => action).toSorted()).toEqual([
      'add-host',
      'change-host',
      'change-host',
      'remove-host',
    ])
    expect(data.find(({ action }) => action === 'add-host')?.target).toMatchObject({
      label: 'own',
      address: 'db.example.com:8443',
    })
    expect(JSON.stringify([product.received, data])).not.toMatch(/very secret|"ada"/)
  })

  it.each([
    ['POST', '/api/v1/hosts', { ...target, label: 'used' }, 409],
    ['POST', '/api/v1/hosts', { ...target, label: 'user:own' }, 400],
    ['POST', '/api/v1/hosts', { ...target, label: ' ' }, 400],
    ['POST', '/api/v1/hosts', { ...target, label: 'own', tags: 'hot' }, 400],
    ['PUT', `/api/v1/hosts/${id}`, { label: 'own', url: target.url }, 400],
    ['PUT', '/api/v1/hosts/short', { label: 'own' }, 400],
  ])('%s %s with %j is rejected', async (method, path, body, status) => {
    await using product = await startFakeProduct()
    expect((await sendTo(product)(method, path, body)).status).toBe(status)
  })

  it('needs write access', async () => {
    const env = { SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: 'the secret of the proxy' }
    await using product = await startFakeProduct({ env })
    expect((await sendTo(product)('POST', '/api/v1/hosts', { ...target, label: 'own' })).status).toBe(401)
    expect(product.received.filter(({ method }) => method === 'addHost')).toEqual([])
  })
})

describe('the place of a caller', () => {
  it.each([
    [{}, true],
    [{ 'x-forwarded-for': '127.0.0.1' }, false],
  ])('is sent to query: %j', async (headers: Record<string, string>, isCallerLocal) => {
    await using product = await startFakeProduct()
    const send = sendTo(product)
    await send('POST', '/api/v1/hosts/check', target, headers)
    await send('POST', '/api/v1/hosts', { ...target, label: 'own' }, headers)
    await send('POST', '/api/v1/browser-connections/test', target, headers)
    await send('POST', '/api/v1/browser-connections/sessions', target, headers)
    const marked = product.received.filter(({ input }) => 'isCallerLocal' in input)
    expect(marked.map(({ method }) => method)).toEqual([
      'checkHost',
      'addHost',
      'testConnection',
      'testConnection',
      'sealConnection',
    ])
    expect(marked.map(({ input }) => input)).toEqual(marked.map(() => expect.objectContaining({ isCallerLocal })))
  })
})
