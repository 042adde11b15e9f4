import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../gateway/http-route.ts'
import { routes } from '../gateway/routes.ts'
import { type EndpointTestGateway, accessModes, startEndpointTestGateway } from './start-endpoint-product.ts'
import { type EndpointRow, readEndpointRows } from './endpoint-rows.ts'

const named = (rows: readonly EndpointRow[]) => rows.map((row) => [`${row.method} ${row.path}`, row] as const)
const rows = readEndpointRows()
const routed = rows.filter(({ method }) => method !== 'OPTIONS')
const counted = rows.filter((row) => row.counted)
const featured = rows.flatMap((row) => (row.feature === undefined ? [] : [{ ...row, feature: row.feature }]))
const failing = rows.flatMap((row) =>
  row.errors.map((error) => [`${row.method} ${row.path}`, error.when, error.status, row, error] as const),
)

let product: EndpointTestGateway
beforeAll(async () => {
  product = await startEndpointTestGateway()
})
afterAll(() => product[Symbol.asyncDispose]())

describe('an endpoint of the specification', () => {
  it.each(named(routed))('%s has a route with the specified access', (_name, { method, path, ...row }) => {
    const route = routes.find((each) => each.method === method && each.path === path)
    expect(route).toMatchObject<Partial<Route>>({
      access: row.authentication,
      ...(row.feature !== undefined && { feature: expect.stringMatching(row.feature) }),
    })
    expect(route?.limit !== 'none').toBe(row.counted)
  })

  it.each(named(rows))('%s responds to a valid request as specified', async (_name, row) => {
    const response = await product.send(row)
    const text = await response.text()
    expect([response.status, text]).toEqual([row.response.status, expect.anything()])
    if (row.response.status !== 204) expect(response.headers.get('content-type')).toContain(row.response.mediaType)
    for (const [name, value] of Object.entries(row.response.headers)) expect(response.headers.get(name)).toBe(value)
    for (const part of row.response.contains) expect(text).toContain(part)
    const { has, never, only } = row.response
    if (has.length + never.length === 0 && only === undefined) return
    const body: unknown = JSON.parse(text)
    for (const path of has) expect(body).toHaveProperty(path)
    for (const path of never) expect(body).not.toHaveProperty(path)
    if (only) expect(Object.keys(Object(body)).toSorted()).toEqual(only.toSorted())
  })

  it.each(named(rows))('%s responds to unauthenticated callers as specified', async (_name, row) => {
    const statuses = []
    for (const env of accessModes) {
      const anonymous = { env: { ...row.request.env, ...env }, bearer: 'none', as: 'none' } as const
      statuses.push((await product.send(row, row.request.prepared ? { ...anonymous, body: {} } : anonymous)).status)
    }
    expect(statuses).toEqual(row.unauthenticated)
  })

  it.each(failing)(
    '%s, if %s, returns %d',
    async (_name, _when, status, row, { error, when: _, status: __, ...overrides }) => {
      const response = await product.send(row, overrides)
      const text = await response.text()
      expect([response.status, text]).toEqual([status, expect.stringContaining(error)])
      expect(response.headers.has('www-authenticate')).toBe(status === 401)
    },
  )

  it.each(named(counted))('%s returns 429 with Retry-After beyond its rate limit', async (_name, row) => {
    const env = { ...row.request.env, [row.budget]: '1' }
    const [first, second] = [await product.send(row, { env }), await product.send(row, { env })]
    expect([first.status === 429 || first.status === row.response.status, second.status]).toEqual([true, 429])
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it.each(named(featured))('%s returns 404 if its feature is disabled', async (_name, row) => {
    const response = await product.send(row, { env: { [`SVC_FEATURE_${row.feature}_ENABLED`]: 'false' } })
    expect(response.status).toBe(404)
  })
})
