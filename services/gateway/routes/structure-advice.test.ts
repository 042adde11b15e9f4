import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StructureAdviceResponse } from '#proto/http/structure-advice.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct({ report: {} })
})
afterAll(async () => product[Symbol.asyncDispose]())

const post = (body: unknown, headers: Record<string, string> = {}, path = '/api/v1/advice/table') =>
  fetch(product.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const table = { hostId: 1, database: 'shop', table: 'orders' }
const audit = async () => (await fetch(`${product.url}/api/v1/audit?limit=5`)).text()

describe('advice on a table', () => {
  it('has the name of its host, and is audited only when it measures', async () => {
    const { data, metadata } = StructureAdviceResponse.parse(await (await post(table)).json())
    expect([data[0]?.proof, metadata.host]).toEqual(['estimated', 'logs'])
    expect(await audit()).not.toContain('measure-codecs')
    const measured = StructureAdviceResponse.parse(await (await post({ ...table, measure: true })).json())
    expect(measured.data[0]?.proof).toBe('verified')
    expect(await audit()).toContain('measure-codecs')
  })

  it('on a user connection is audited as such, visible to its owner only', async () => {
    const target = { url: 'https://db.example.com:8443', user: 'ada', password: 'secret', name: 'of ada' }
    const session = Object(await (await post(target, {}, '/api/v1/browser-connections/sessions')).json())
    const token = { [session.data.header]: session.data.token }
    expect((await post({ ...table, hostId: 0, measure: true }, token)).status).toBe(200)
    expect(await audit()).toContain('"host":"of ada (user-supplied)"')
    expect(await audit()).not.toContain('"host":"of ada"')
  })

  it.each([
    [{ ...table, table: '' }, 400, 'table'],
    [{ ...table, measure: 'yes' }, 400, 'measure'],
    [{ ...table, hostId: 9 }, 404, 'unknown host'],
  ])('%j returns %d', async (body, status, words) => {
    const response = await post(body)
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(words)])
  })
})

it('returns why there is no advice on a host', async () => {
  const answer: unknown = await (await fetch(`${product.url}/api/v1/advice/host?hostId=0`)).json()
  expect(StructureAdviceResponse.parse(answer).metadata).toEqual({
    host: 'analytics',
    notes: ['No recommendations for this host.'],
  })
})
