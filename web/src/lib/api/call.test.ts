import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { call, buildHref, type ResponseBody, type RouteName } from './call.ts'

const sent: { address: string; init: RequestInit }[] = []
beforeEach(() => {
  sent.length = 0
  vi.stubGlobal('location', new URL('http://localhost:3000/overview'))
  vi.stubGlobal('fetch', async (address: string, init: RequestInit) => {
    sent.push({ address, init })
    return Response.json({ success: true, data: [], metadata: {} })
  })
})
afterEach(() => vi.unstubAllGlobals())

describe('call', () => {
  it('fills the path and leaves out null and empty parameters', async () => {
    await call('GET /api/v1/tables/{name}/filter-options', {
      path: { name: 'a/b' },
      query: { hostId: 2, column: 'user', search: '', timezone: null },
    })
    expect(sent.map(({ address, init }) => [init.method, address])).toEqual([
      ['GET', '/api/v1/tables/a%2Fb/filter-options?hostId=2&column=user'],
    ])
  })

  it('sends a JSON body with the method of the route', async () => {
    await call('PUT /api/v1/health/alert-digest', { body: { enabled: true, windowMinutes: 30 } })
    await call('DELETE /api/v1/health/alert-digest')
    expect(sent.map(({ init: { method, body } }) => [method, body])).toEqual([
      ['PUT', '{"enabled":true,"windowMinutes":30}'],
      ['DELETE', undefined],
    ])
  })

  it('passes URL parameters through', () => {
    const query = new URLSearchParams([
      ['filter', 'user.eq.ada'],
      ['filter', 'kind.eq.Select'],
    ])
    expect(buildHref('GET /api/v1/tables/{name}', { path: { name: 'running-queries' }, query })).toBe(
      '/api/v1/tables/running-queries?filter=user.eq.ada&filter=kind.eq.Select',
    )
  })
})

describe('route types', () => {
  it('reject calls that violate the contract', () => {
    const refused = async (): Promise<unknown[]> => [
      // @ts-expect-error unknown path
      await call('GET /api/v1/no-such-route'),
      // @ts-expect-error unknown method of this path
      await call('PUT /api/v1/hosts'),
      // @ts-expect-error unknown parameter
      await call('GET /api/v1/overview', { query: { hostId: 0, limit: 1 } }),
      // @ts-expect-error wrong parameter type
      await call('GET /api/v1/insights', { query: { severity: 'loud' } }),
      // @ts-expect-error missing parameter
      await call('GET /api/v1/overview'),
      // @ts-expect-error this route has no parameters
      await call('GET /api/v1/hosts', { query: { hostId: 0 } }),
      // @ts-expect-error missing path parameter
      await call('GET /api/v1/queries/{queryId}', { query: { hostId: 0 } }),
      // @ts-expect-error unknown path parameter
      await call('GET /api/v1/queries/{queryId}', { path: { id: 'x' } }),
      // @ts-expect-error missing body
      await call('POST /api/v1/actions', { query: { hostId: 0 } }),
      // @ts-expect-error unknown action
      await call('POST /api/v1/actions', { query: { hostId: 0 }, body: { action: 'dropTable', params: {} } }),
      // @ts-expect-error unknown response field
      (await call('GET /api/version')).versions,
    ]
    expect(refused).toBeTypeOf('function')
  })

  it('give each route its response type', () => {
    const version: ResponseBody<'GET /api/version'>['version'] = '1.2.3'
    const route: RouteName = 'GET /api/version'
    expect([route, version]).toEqual(['GET /api/version', '1.2.3'])
  })
})
