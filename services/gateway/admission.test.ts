import { describe, expect, it } from 'vitest'
import { features, type Identity, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { ConfigResponse } from '#proto/http/config.ts'
import { CatalogueResponse } from '#proto/http/data.ts'
import { fakeQuery, type QueryHandlers } from './testing/query.ts'
import { startFakeProduct } from './testing/fake-product.ts'
import { anonymousCaller } from './auth/identity.ts'

const getJson = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const refusalOf = async (url: string) => {
  const { status, headers, body } = await getJson(url)
  return [status, ErrorResponse.parse(body).error.type, headers.get('www-authenticate')]
}

/** A handler of `chart` that requires the feature of the chart, as `query` does. */
const chart: QueryHandlers['chart'] = async (input, call) => {
  requireFeature(call.identity, 'QUERIES', `the chart ${input.name}`)
  return fakeQuery.chart(input, call)
}

describe('a restricted feature', () => {
  const paths = ['/api/v1/tables', '/api/v1/charts/query-count']
  const both = 'TABLES,QUERIES'

  it.each(paths)('returns 404 when it is disabled: %s', async (path) => {
    await using product = await startFakeProduct({ env: { SVC_DISABLED_FEATURES: both }, query: { chart } })
    expect(await refusalOf(product.url + path)).toEqual([404, 'feature-disabled', null])
  })

  it.each(paths)('requires authentication: %s', async (path) => {
    const env = { SVC_AUTH_REQUIRED_FEATURES: both }
    await using product = await startFakeProduct({ env, query: { chart } })
    expect(await refusalOf(product.url + path)).toEqual([401, 'unauthenticated', 'Bearer realm="watchhouse"'])
    const identify = async () => ({ kind: 'user', subject: 'ada', features: 'all' }) as const
    await using known = await startFakeProduct({ env, query: { chart }, identify })
    expect((await getJson(known.url + path)).status).toBe(200)
  })

  it.each(paths)('returns 403 for a user without the feature: %s', async (path) => {
    const identify = async (): Promise<Identity> => ({ kind: 'user', subject: 'ada', features: ['ABOUT'] })
    await using product = await startFakeProduct({ query: { chart }, identify })
    expect(await refusalOf(product.url + path)).toEqual([403, 'forbidden', null])
  })

  it('follows changed variables from the next request', async () => {
    await using product = await startFakeProduct()
    const status = async () => (await getJson(`${product.url}/api/v1/tables`)).status
    const seen = [await status()]
    for (const [name, value] of [
      ['SVC_FEATURE_TABLES_ENABLED', 'false'],
      ['SVC_FEATURE_TABLES_ENABLED', 'true'],
      ['SVC_FEATURE_TABLES_ACCESS', 'authenticated'],
      ['SVC_FEATURE_TABLES_ACCESS', 'guest'],
    ] as const) {
      product.env[name] = value
      seen.push(await status())
    }
    expect(seen).toEqual([200, 404, 200, 401, 200])
  })

  it('is omitted from the catalogue and from calls, and reported by the configuration', async () => {
    await using product = await startFakeProduct({
      env: { SVC_DISABLED_FEATURES: 'QUERIES', SVC_AUTH_REQUIRED_FEATURES: 'LOGS' },
    })
    const { body: catalogue } = await getJson(`${product.url}/api/v1/catalogue`)
    expect(CatalogueResponse.parse(catalogue).data).toMatchObject({ charts: [], tables: [{ feature: 'TABLES' }] })
    const { body: config } = await getJson(`${product.url}/api/v1/config`)
    const { data } = ConfigResponse.parse(config)
    expect(data.features).toMatchObject({
      QUERIES: { enabled: false, access: 'public' },
      LOGS: { enabled: true, access: 'authenticated' },
      TABLES: { enabled: true, access: 'public' },
    })
    const passedOn = product.received.find(({ method }) => method === 'catalogue')?.call.identity.features
    expect(passedOn).toEqual(features.filter((feature) => feature !== 'QUERIES' && feature !== 'LOGS'))
  })
})

describe('GET /api/v1/config', () => {
  it('returns the sign-in options but no hosts to callers who cannot read', async () => {
    await using product = await startFakeProduct({ env: { SVC_API_KEY_SECRET: 'hush, hush' } })
    const { status, body } = await getJson(`${product.url}/api/v1/config`)
    expect(status).toBe(200)
    expect(ConfigResponse.parse(body).data).toMatchObject({
      provider: 'none',
      capabilities: { read: false, write: false },
      signIn: { page: null, key: true },
      limits: { requestsPerMinute: 1_000_000, questionsPerMinute: 10, guestQuestionsPerDay: null },
      hosts: [],
      catalogue: { topics: [], charts: [], tables: [] },
    })
    expect(product.received).toEqual([])
    expect(JSON.stringify(body)).not.toContain('hush')
  })
})

describe('invalid credentials', () => {
  const identify = async () => {
    throw new ServiceError('unauthenticated', 'the API key is not valid')
  }

  it('are rejected where authentication is required, and ignored elsewhere', async () => {
    await using product = await startFakeProduct({ identify })
    expect(await refusalOf(`${product.url}/api/v1/hosts`)).toEqual([
      401,
      'unauthenticated',
      'Bearer realm="watchhouse"',
    ])
    for (const path of ['/api/health', '/api/version', '/api/v1/config']) {
      expect((await getJson(product.url + path)).status).toBe(200)
    }
  })

  it('that cannot be verified at the moment allow only anonymous routes', async () => {
    const unsure = async () => {
      throw new ServiceError('unavailable', 'the keys of the identity provider cannot be had')
    }
    await using product = await startFakeProduct({ identify: unsure })
    expect(await refusalOf(`${product.url}/api/v1/hosts`)).toEqual([503, 'unavailable', null])
    expect((await getJson(`${product.url}/api/v1/config`)).status).toBe(200)
  })
})

it('does not read the body of a rejected request', async () => {
  await using product = await startFakeProduct({
    env: { SVC_API_KEY_SECRET: 'secret' },
    identify: async () => anonymousCaller,
  })
  const init = { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }
  const { status, body } = await getJson(`${product.url}/api/v1/charts/batch`, init)
  expect([status, ErrorResponse.parse(body).error.type]).toEqual([401, 'unauthenticated'])
})
