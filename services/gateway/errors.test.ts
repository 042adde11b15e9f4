import { describe, expect, it } from 'vitest'
import { startFakeProduct } from './testing/fake-product.ts'

interface TestRequest {
  env?: Record<string, string>
  method?: string
  path: string
  headers?: Record<string, string>
}

const key = { SVC_API_KEY_SECRET: 'the secret of the keys' }
const trusted = {
  SVC_AUTH_PROVIDER: 'trusted',
  SVC_TRUSTED_AUTH_SECRET: 'shared',
  SVC_TRUSTED_ALLOWED_GROUPS: 'admins',
}
const named = { 'x-svc-proxy-secret': 'shared', 'x-forwarded-user': 'ada', 'x-forwarded-groups': 'guests' }
const cron = '/api/cron/health-sweep'
const events = '/api/events/ingest'

/** Errors of the gateway itself, from the error table of the specification. */
const rows: [status: number, condition: string, request: TestRequest][] = [
  [401, 'the tool server with a scheme and no token', { env: key, method: 'POST', path: '/api/mcp' }],
  [
    401,
    'the tool server with a scheme and a wrong token',
    { env: key, method: 'POST', path: '/api/mcp', headers: { authorization: 'Bearer svc_x.y' } },
  ],
  [401, 'the tool server with nothing configured', { method: 'POST', path: '/api/mcp' }],
  [401, 'events with no token', { env: { SVC_EVENTS_INGEST_TOKEN: 'token' }, method: 'POST', path: events }],
  [
    401,
    'events with a wrong token',
    { env: { SVC_EVENTS_INGEST_TOKEN: 'token' }, method: 'POST', path: events, headers: { authorization: 'Bearer t' } },
  ],
  [403, 'a user of a trusted proxy in none of the groups', { env: trusted, path: '/api/v1/hosts', headers: named }],
  [404, 'metrics that are off', { env: { SVC_FEATURE_PROMETHEUS_ENABLED: 'false' }, path: '/api/v1/metrics' }],
  [429, 'more requests than the limit', { env: { RATE_LIMIT_API_PER_MIN: '1' }, path: '/api/v1/hosts' }],
  [503, 'a cron route without a secret', { path: cron }],
  [503, 'a cron route with an empty secret', { env: { CRON_SECRET: '' }, path: cron }],
  [503, 'events while there is no token', { method: 'POST', path: events }],
]

describe('the error table', () => {
  it.each(rows)('answers %d for %s', async (status, _condition, { env = {}, method = 'GET', path, headers = {} }) => {
    await using product = await startFakeProduct({ env, mcp: {} })
    const send = () => fetch(product.url + path, { method, headers })
    if (status === 429) expect((await send()).status).toBe(200)
    const response = await send()
    expect(response.status).toBe(status)
    expect(response.headers.has('retry-after')).toBe(status === 429)
    expect(response.headers.has('www-authenticate')).toBe(status === 401)
  })
})
