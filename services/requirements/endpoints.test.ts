import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../gateway/http-route.ts'
import { routes } from '../gateway/routes.ts'
import { type EndpointProduct, modes, startEndpointProduct } from './endpoint-product.ts'
import { type EndpointRow, endpointRows } from './endpoint-rows.ts'

const named = (rows: readonly EndpointRow[]) => rows.map((row) => [`${row.method} ${row.path}`, row] as const)
const rows = endpointRows()
const routed = rows.filter(({ method }) => method !== 'OPTIONS')
const counted = rows.filter((row) => row.counted)
const featured = rows.flatMap((row) => (row.feature === undefined ? [] : [{ ...row, feature: row.feature }]))
const failing = rows.flatMap((row) =>
  row.errors.map((error) => [`${row.method} ${row.path}`, error.when, error.status, row, error] as const),
)

let product: EndpointProduct
beforeAll(async () => {
  product = await startEndpointProduct()
})
afterAll(() => product[Symbol.asyncDispose]())

describe('an endpoint of the documents', () => {
  it.each(named(routed))('%s has its route, open to whom the row says', (_name, { method, path, ...row }) => {
    const route = routes.find((each) => each.method === method && each.path === path)
    expect(route).toMatchObject<Partial<Route>>({
      access: row.authentication,
      ...(row.feature !== undefined && { feature: expect.stringMatching(row.feature) }),
    })
    expect(route?.limit !== 'none').toBe(row.counted)
  })

  it.each(named(rows))('%s answers a good request as its row says', async (_name, row) => {
    const response = await product.ask(row)
    const text = await response.text()
    expect([response.status, text]).toEqual([row.answer.status, expect.anything()])
    if (row.answer.status !== 204) expect(response.headers.get('content-type')).toContain(row.answer.mediaType)
    for (const [name, value] of Object.entries(row.answer.headers)) expect(response.headers.get(name)).toBe(value)
    for (const part of row.answer.contains) expect(text).toContain(part)
    const { has, never, only } = row.answer
    if (has.length + never.length === 0 && only === undefined) return
    const body: unknown = JSON.parse(text)
    for (const path of has) expect(body).toHaveProperty(path)
    for (const path of never) expect(body).not.toHaveProperty(path)
    if (only) expect(Object.keys(Object(body)).toSorted()).toEqual(only.toSorted())
  })

  it.each(named(rows))('%s answers strangers by the mode', async (_name, row) => {
    const answers = []
    for (const env of modes) {
      const asked = { env: { ...row.ask.env, ...env }, bearer: 'nothing', as: 'nobody' } as const
      answers.push((await product.ask(row, row.ask.prepared ? { ...asked, body: {} } : asked)).status)
    }
    expect(answers).toEqual(row.strangers)
  })

  it.each(failing)(
    '%s, when %s, answers %d',
    async (_name, _when, status, row, { says, when: _, status: __, ...asked }) => {
      const response = await product.ask(row, asked)
      const text = await response.text()
      expect([response.status, text]).toEqual([status, expect.stringContaining(says)])
      expect(response.headers.has('www-authenticate')).toBe(status === 401)
    },
  )

  it.each(named(counted))('%s answers 429 and when to come back beyond its budget', async (_name, row) => {
    const env = { ...row.ask.env, [row.budget]: '1' }
    const [first, second] = [await product.ask(row, { env }), await product.ask(row, { env })]
    expect([first.status === 429 || first.status === row.answer.status, second.status]).toEqual([true, 429])
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it.each(named(featured))('%s is not there when its feature is off', async (_name, row) => {
    const response = await product.ask(row, { env: { [`SVC_FEATURE_${row.feature}_ENABLED`]: 'false' } })
    expect(response.status).toBe(404)
  })
})
