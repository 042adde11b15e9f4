import { afterAll, beforeAll, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { PagingServicesResponse } from '#proto/http/paging-services.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct({ alerts: {} })
})
afterAll(() => product[Symbol.asyncDispose]())
const get = async (query: string) => {
  const response = await fetch(`${product.url}/api/v1/health/channels/paging-a/services${query}`)
  return { status: response.status, body: await response.json() }
}

it('lists the available services', async () => {
  const { status, body } = await get('?search=disks')
  expect(status).toBe(200)
  expect(PagingServicesResponse.parse(body)).toMatchObject({
    data: [{ name: 'disks' }],
    metadata: { count: 1, more: false },
  })
})

it.each([
  ['?search=', 400, 'search'],
  [`?search=${'x'.repeat(101)}`, 400, 'search'],
  ['?serch=x', 400, 'serch'],
  ['?search=no-token', 409, 'HEALTH_ALERT_PAGING_A_API_KEY'],
])('returns for %s the status %i', async (query, status, says) => {
  const answered = await get(query)
  expect(answered.status).toBe(status)
  expect(ErrorResponse.parse(answered.body).error.message).toContain(says)
})
