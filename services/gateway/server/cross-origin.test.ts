import { describe, expect, it } from 'vitest'
import { findSettingProblems } from '#shared/config/setting.ts'
import { crossOriginSettings } from './cross-origin.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const allowedOrigin = 'https://tools.example.com'
const foreign = 'https://evil.example.com'
const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }

const send = async (origins: string, origin: string, path: string, init: RequestInit = {}) => {
  await using product = await startFakeProduct({ env: { SVC_CORS_ORIGINS: origins } })
  const { status, headers } = await fetch(product.url + path, { ...init, headers: { ...init.headers, origin } })
  return { status, allowed: headers.get('access-control-allow-origin'), headers }
}

describe('a page of another site', () => {
  it.each([
    ['', allowedOrigin, null],
    [allowedOrigin, allowedOrigin, allowedOrigin],
    [`https://a.example, ${allowedOrigin}`, allowedOrigin, allowedOrigin],
    [allowedOrigin, foreign, null],
    [allowedOrigin, `${allowedOrigin}:8443`, null],
    [allowedOrigin, 'http://tools.example.com', null],
    [allowedOrigin, 'null', null],
    ['*', foreign, '*'],
  ])('with %j allowed: %s gets %s', async (origins, origin, expected) => {
    const read = await send(origins, origin, '/api/v1/hosts')
    expect([read.status, read.allowed]).toEqual([200, expected])
    const preflighted = await send(origins, origin, '/api/v1/charts/batch', { method: 'OPTIONS', headers: preflight })
    expect([preflighted.status, preflighted.allowed]).toEqual([204, expected])
    // Cookies are never accepted from other origins.
    for (const { headers } of [read, preflighted]) expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('gets the allowed request headers and the readable response headers', async () => {
    const { headers } = await send(allowedOrigin, allowedOrigin, '/api/v1/charts/batch', {
      method: 'OPTIONS',
      headers: preflight,
    })
    expect(headers.get('access-control-allow-headers')).toBe('authorization')
    expect(headers.get('access-control-max-age')).toBe('600')
    const read = await send(allowedOrigin, allowedOrigin, '/api/v1/catalogue')
    expect(read.headers.get('access-control-expose-headers')).toContain('RateLimit-Remaining')
    expect(read.headers.get('vary')).toBe('Origin, Accept-Encoding')
  })

  it.each(['/.well-known/mcp/server-card.json', '/.well-known/api-catalog'])(
    'can read %s, which is public',
    async (path) => {
      const read = await send('', foreign, path)
      expect([read.status, read.allowed]).toEqual([200, '*'])
      const preflighted = await send(allowedOrigin, foreign, path, { method: 'OPTIONS', headers: preflight })
      expect([preflighted.status, preflighted.allowed]).toEqual([204, '*'])
      expect(read.headers.has('access-control-allow-credentials')).toBe(false)
    },
  )

  it.each(['', allowedOrigin, '*'])(
    'can call the tool server with its own key from any origin, with %j allowed elsewhere',
    async (origins) => {
      const preflighted = await send(origins, foreign, '/api/mcp', { method: 'OPTIONS', headers: preflight })
      expect([preflighted.status, preflighted.allowed]).toEqual([204, '*'])
      expect(preflighted.headers.get('access-control-allow-headers')).toBe('authorization')
      expect(preflighted.headers.get('access-control-allow-methods')).toContain('POST')
      const refused = await send(origins, foreign, '/api/mcp', { method: 'POST', body: '{}' })
      expect([refused.status, refused.allowed]).toEqual([401, '*'])
      expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate')
      for (const { headers } of [preflighted, refused])
        expect(headers.has('access-control-allow-credentials')).toBe(false)
    },
  )

  it('gets a preflight response of the tool server without an Origin header', async () => {
    await using product = await startFakeProduct({})
    const preflighted = await fetch(`${product.url}/api/mcp`, { method: 'OPTIONS', headers: preflight })
    expect([preflighted.status, preflighted.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  })

  it('can read error responses', async () => {
    const { status, allowed } = await send(allowedOrigin, allowedOrigin, '/api/nothing')
    expect([status, allowed]).toEqual([404, allowedOrigin])
  })

  it.each([
    'tools.example.com',
    `${allowedOrigin}/`,
    `${allowedOrigin}/path`,
    'https://*.example.com',
    'null',
    `* ${allowedOrigin}`,
  ])('cannot be configured as %s', (origins) => {
    expect(findSettingProblems(crossOriginSettings, { SVC_CORS_ORIGINS: origins })).toEqual([
      { name: 'SVC_CORS_ORIGINS', sentence: 'must be origins such as https://tools.example.com, or *' },
    ])
  })
})
