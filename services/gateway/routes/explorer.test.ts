import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConsoleResponse } from '#proto/http/console.ts'
import { ColumnsResponse, KeysResponse, TablesResponse } from '#proto/http/explorer.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
afterAll(async () => product[Symbol.asyncDispose]())

const send = async (path: string, { url } = product) => {
  const response = await fetch(`${url}/api/v1/explorer/${path}`)
  const body: unknown = await response.json()
  return { status: response.status, body }
}
const ofTable = 'database=shop&table=orders'

describe('the explorer', () => {
  it('requests the right table of the right host for every character in its name', async () => {
    const name = 'ta`b"le\'; %'
    const { status } = await send(`columns?hostId=1&database=shop&table=${encodeURIComponent(name)}`)
    expect(status).toBe(200)
    expect(product.received.at(-1)).toMatchObject({
      method: 'exploreColumns',
      input: { hostKey: 'logs', database: 'shop', table: name },
    })
  })

  it('returns only the keys of a table', async () => {
    const { body } = await send(`indexes?${ofTable}`)
    expect(Object.keys(KeysResponse.parse(body).data ?? {})).toEqual([
      'engine',
      'engineFull',
      'partitionKey',
      'sortingKey',
      'primaryKey',
      'samplingKey',
    ])
  })

  it('previews rows after their columns', async () => {
    const { body } = await send(`preview?${ofTable}&limit=2`)
    expect(ConsoleResponse.parse(body).data).toMatchObject({ columns: [{ name: 'id' }, { name: 'text' }] })
    expect(product.received.at(-1)?.input).toMatchObject({ limit: 2 })
  })

  it('suggests the nearest name', async () => {
    const { status, body } = await send('tables?database=shpo')
    expect(status).toBe(404)
    expect(body).toMatchObject({ error: { type: 'not-found', details: { nearest: ['shop'] } } })
  })

  it('returns the reason when a host has no data', async () => {
    const unavailable = { reason: 'permission' as const, message: 'may not', missingTables: [], grant: 'GRANT …' }
    const closed = async () => ({ rows: [], truncated: false, unavailable })
    await using strict = await startFakeProduct({ query: { exploreColumns: closed, exploreTables: closed } })
    const columns = ColumnsResponse.parse((await send(`columns?${ofTable}`, strict)).body)
    const tables = TablesResponse.parse((await send('tables?database=shop', strict)).body)
    for (const { data, metadata } of [columns, tables]) {
      expect([data, metadata.unavailable]).toEqual([[], unavailable])
    }
  })

  it.each([
    ['tables', 'database', 'is required'],
    ['columns?database=shop', 'table', 'is required'],
    ['columns?database=&table=a', 'database', 'must not be empty'],
    [`columns?database=a&table=${'x'.repeat(257)}`, 'table', '256'],
    ['columns?database=a&database=b&table=c', 'database', 'only once'],
    [`parts?${ofTable}&inactive=yes`, 'inactive', '1 or 0'],
    [`parts?${ofTable}&limit=0`, 'limit', 'from 1 to 10000'],
    [`usage?${ofTable}&lastHours=9601`, 'lastHours', 'from 1 to 9600'],
    [`query-log?${ofTable}&limit=501`, 'limit', 'from 1 to 500'],
    [`preview?${ofTable}&limit=1001`, 'limit', 'from 1 to 1000'],
    [`ddl?${ofTable}&format=sql`, 'format', 'is unknown'],
  ])('rejects %.60s by name', async (path, parameter, says) => {
    const { status, body } = await send(path)
    expect(status).toBe(400)
    expect(body).toMatchObject({
      error: { type: 'invalid', message: expect.stringContaining(says), details: { parameter } },
    })
  })
})
