import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
afterAll(async () => product[Symbol.asyncDispose]())

const get = async (path: string) => {
  const response = await fetch(`${product.url}/api/v1/postgres/${path}`)
  return { status: response.status, text: await response.text() }
}

describe('the PostgreSQL source', () => {
  it.each([
    ['activity', { all: false, limit: 100, withValues: true }],
    ['activity?all=1&limit=500', { all: true, limit: 500, withValues: true }],
    ['statements?search=a%25b', { order: 'total_time', search: 'a%b', limit: 100 }],
    ['tables?order=age&limit=1', { order: 'age', limit: 1 }],
    ['locks', { withValues: true }],
  ])('%s requests %j', async (path, input) => {
    expect((await get(path)).status).toBe(200)
    expect(product.received.at(-1)?.input).toEqual(input)
  })

  it.each([
    ['activity?all=perhaps', 'all'],
    ['activity?limit=0', 'limit'],
    ['activity?limit=501', 'limit'],
    ['activity?limit=5&limit=6', 'limit'],
    ['activity?withValues=0', 'withValues'],
    ['statements?order=total_exec_time%20DESC', 'order'],
    [`statements?search=${'a'.repeat(257)}`, 'search'],
    ['tables?order=', 'order'],
    ['tables?limit=1e3', 'limit'],
    ['tables?hostId=0', 'hostId'],
  ])('%s is rejected with the invalid parameter', async (path, name) => {
    const { status, text } = await get(path)
    expect([status, text]).toEqual([400, expect.stringContaining(name)])
  })

  it('is part of the config', async () => {
    const answer: unknown = await (await fetch(`${product.url}/api/v1/config`)).json()
    expect(answer).toMatchObject({ data: { offers: { postgresSource: true } } })
  })
})
