import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { ChannelTestResponse } from '#proto/http/channels.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

describe('a channel', () => {
  let product: FakeProduct
  beforeAll(async () => {
    product = await startFakeProduct({ alerts: {} })
  })
  afterAll(() => product[Symbol.asyncDispose]())
  const post = async (path: string, body: unknown = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${product.url}/api/v1/health/channels/${path}/test`, init)
    return { status: response.status, body: await response.json() }
  }

  it('returns the result of a test message, even a failed one, with 200', async () => {
    const { status, body } = await post('webhook', { target: 'team' })
    expect(status).toBe(200)
    expect(ChannelTestResponse.parse(body).data).toEqual([
      { name: 'team', result: 'config', reason: 'HTTP 404', response: { status: 404, tookMs: 12, text: 'no hook' } },
    ])
  })

  it('audits test messages', async () => {
    await post('webhook')
    const { data } = JSON.parse(await (await fetch(`${product.url}/api/v1/audit?limit=1`)).text())
    expect(data).toMatchObject([{ action: 'test-channel', target: { channel: 'webhook' }, result: 'done' }])
  })

  it('encrypts settings that are not saved yet, and audits only the names of the fields', async () => {
    const { status, body } = await post('webhook', { settings: { url: 'https://hooks.example/a-secret' } })
    expect(status).toBe(200)
    expect(ChannelTestResponse.parse(body).data).toMatchObject([{ name: 'draft of url', result: 'ok' }])
    const record = await (await fetch(`${product.url}/api/v1/audit?limit=1`)).text()
    expect(JSON.parse(record).data).toMatchObject([{ action: 'test-channel', target: { settings: 'url' } }])
    expect(record).not.toContain('a-secret')
  })

  const put = async (settings: unknown) => {
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ settings }) }
    const response = await fetch(`${product.url}/api/v1/health/alert-config/channels/webhook`, init)
    return { status: response.status, text: await response.text() }
  }

  it('is configured, and the audit record has only the names of the fields', async () => {
    expect((await put({ url: 'https://hooks.example/a-secret', other: null })).status).toBe(200)
    const record = await (await fetch(`${product.url}/api/v1/audit?limit=1`)).text()
    expect(JSON.parse(record).data).toMatchObject([{ action: 'update-channel', target: { settings: 'url, other' } }])
    expect(record).not.toContain('a-secret')
  })

  it.each([{ url: '' }, { url: 5 }, { 'a b': 'x' }, { url: 'x'.repeat(8_001) }, 'x'])(
    'is not set up with %j',
    async (settings) => {
      const { status, text } = await put(settings)
      expect([status, text]).toEqual([400, expect.stringContaining('settings')])
    },
  )

  it.each([
    ['webhok', {}, 404, 'webhook'],
    ['chat-a', {}, 409, 'cannot test channel'],
    ['webhook', { target: '' }, 400, 'target'],
    ['webhook', { url: 'https://x.example' }, 400, 'url'],
  ])('%s tested with %j returns %s', async (channel, sent, status, says) => {
    const answered = await post(channel, sent)
    expect(answered.status).toBe(status)
    expect(ErrorResponse.parse(answered.body).error.message).toContain(says)
  })
})
