import { afterEach, describe, expect, it } from 'vitest'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
afterEach(() => product[Symbol.asyncDispose]())

const acknowledge = (headers: Record<string, string>) =>
  fetch(`${product.url}/api/v1/health/ack`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ hostId: 1, ruleId: 'disk-usage', duration: '60m' }),
  })

describe('a write without sign-in', () => {
  it('is allowed for programs and for pages of this site', async () => {
    product = await startFakeProduct({ alerts: {} })
    const { origin } = new URL(product.url)
    const page = { origin, 'sec-fetch-site': 'same-origin' }
    const senders: Record<string, string>[] = [{}, { origin }, page]
    for (const headers of senders) expect((await acknowledge(headers)).status).toBe(200)
  })

  it.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }, 403],
    [{ origin: 'null' }, 403],
    // Browsers send this media type without a preflight request.
    [{ 'content-type': 'text/plain' }, 415],
  ])('is rejected from other pages: %j', async (headers, status) => {
    product = await startFakeProduct({ alerts: {} })
    expect((await acknowledge(headers)).status).toBe(status)
  })

  it('is allowed for pages of an origin that the operator names', async () => {
    product = await startFakeProduct({ alerts: {}, env: { SVC_CORS_ORIGINS: 'https://tools.example.com' } })
    const fromPage = { 'sec-fetch-site': 'cross-site', origin: 'https://tools.example.com' }
    expect((await acknowledge(fromPage)).status).toBe(200)
    expect((await acknowledge({ ...fromPage, origin: 'https://evil.example' })).status).toBe(403)
  })
})
