import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StructureAdviceAnswer } from '#proto/http/structure-advice.ts'
import { type FakeProduct, startFake } from '../testing/start.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFake({ report: {} })
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
  it('is told with the name of its host, and on record only where something is measured', async () => {
    const { data, metadata } = StructureAdviceAnswer.parse(await (await post(table)).json())
    expect([data[0]?.proof, metadata.host]).toEqual(['estimated', 'logs'])
    expect(await audit()).not.toContain('measure-codecs')
    const measured = StructureAdviceAnswer.parse(await (await post({ ...table, measure: true })).json())
    expect(measured.data[0]?.proof).toBe('verified')
    expect(await audit()).toContain('measure-codecs')
  })

  it('on a connection of its caller is on record as such, so that only the caller sees it', async () => {
    const target = { url: 'https://db.example.com:8443', user: 'ada', password: 'secret', name: 'of ada' }
    const session = Object(await (await post(target, {}, '/api/v1/browser-connections/sessions')).json())
    const token = { [session.data.header]: session.data.token }
    expect((await post({ ...table, hostId: 0, measure: true }, token)).status).toBe(200)
    expect(await audit()).toContain('"host":"of ada (brought by the caller)"')
    expect(await audit()).not.toContain('"host":"of ada"')
  })

  it.each([
    [{ ...table, table: '' }, 400, 'table'],
    [{ ...table, measure: 'yes' }, 400, 'measure'],
    [{ ...table, hostId: 9 }, 404, 'no such host'],
  ])('%j is refused with %d', async (body, status, words) => {
    const response = await post(body)
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(words)])
  })
})

it('advice on a host says why there is none', async () => {
  const answer: unknown = await (await fetch(`${product.url}/api/v1/advice/host?hostId=0`)).json()
  expect(StructureAdviceAnswer.parse(answer).metadata).toEqual({
    host: 'analytics',
    notes: ['Nothing of this host stands out.'],
  })
})
