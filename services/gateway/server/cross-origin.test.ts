import { describe, expect, it } from 'vitest'
import { problemsOf } from '#shared/config/setting.ts'
import { crossOriginSettings } from './cross-origin.ts'
import { startFake } from '../testing/start.ts'

const friend = 'https://tools.example.com'
const stranger = 'https://evil.example.com'
const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }

const ask = async (origins: string, origin: string, path: string, init: RequestInit = {}) => {
  await using product = await startFake({ env: { SVC_CORS_ORIGINS: origins } })
  const { status, headers } = await fetch(product.url + path, { ...init, headers: { ...init.headers, origin } })
  return { status, allowed: headers.get('access-control-allow-origin'), headers }
}

describe('a page of another site', () => {
  it.each([
    ['', friend, null],
    [friend, friend, friend],
    [`https://a.example, ${friend}`, friend, friend],
    [friend, stranger, null],
    [friend, `${friend}:8443`, null],
    [friend, 'http://tools.example.com', null],
    [friend, 'null', null],
    ['*', stranger, '*'],
  ])('where %j may: %s may read as %s', async (origins, origin, expected) => {
    const read = await ask(origins, origin, '/api/v1/hosts')
    expect([read.status, read.allowed]).toEqual([200, expected])
    const asked = await ask(origins, origin, '/api/v1/charts/batch', { method: 'OPTIONS', headers: preflight })
    expect([asked.status, asked.allowed]).toEqual([204, expected])
    // A cookie opens nothing to it.
    for (const { headers } of [read, asked]) expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('is told what it may send, and what else it may read', async () => {
    const { headers } = await ask(friend, friend, '/api/v1/charts/batch', { method: 'OPTIONS', headers: preflight })
    expect(headers.get('access-control-allow-headers')).toBe('authorization')
    expect(headers.get('access-control-max-age')).toBe('600')
    const read = await ask(friend, friend, '/api/v1/catalogue')
    expect(read.headers.get('access-control-expose-headers')).toContain('RateLimit-Remaining')
    expect(read.headers.get('vary')).toBe('Origin, Accept-Encoding')
  })

  it.each(['/.well-known/mcp/server-card.json', '/.well-known/api-catalog'])(
    'reads %s, which is the same for everybody',
    async (path) => {
      const read = await ask('', stranger, path)
      expect([read.status, read.allowed]).toEqual([200, '*'])
      const asked = await ask(friend, stranger, path, { method: 'OPTIONS', headers: preflight })
      expect([asked.status, asked.allowed]).toEqual([204, '*'])
      expect(read.headers.has('access-control-allow-credentials')).toBe(false)
    },
  )

  it.each(['', friend, '*'])(
    'calls the tool server from any origin by a key of its own, with %j allowed elsewhere',
    async (origins) => {
      const asked = await ask(origins, stranger, '/api/mcp', { method: 'OPTIONS', headers: preflight })
      expect([asked.status, asked.allowed]).toEqual([204, '*'])
      expect(asked.headers.get('access-control-allow-headers')).toBe('authorization')
      expect(asked.headers.get('access-control-allow-methods')).toContain('POST')
      const refused = await ask(origins, stranger, '/api/mcp', { method: 'POST', body: '{}' })
      expect([refused.status, refused.allowed]).toEqual([401, '*'])
      expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate')
      for (const { headers } of [asked, refused]) expect(headers.has('access-control-allow-credentials')).toBe(false)
    },
  )

  it('gets an answer to a preflight of the tool server without naming an origin', async () => {
    await using product = await startFake({})
    const asked = await fetch(`${product.url}/api/mcp`, { method: 'OPTIONS', headers: preflight })
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  })

  it('reads refusals, too', async () => {
    const { status, allowed } = await ask(friend, friend, '/api/nothing')
    expect([status, allowed]).toEqual([404, friend])
  })

  it.each(['tools.example.com', `${friend}/`, `${friend}/path`, 'https://*.example.com', 'null', `* ${friend}`])(
    'cannot be named as %s',
    (origins) => {
      expect(problemsOf(crossOriginSettings, { SVC_CORS_ORIGINS: origins })).toEqual([
        { name: 'SVC_CORS_ORIGINS', sentence: 'must be origins such as https://tools.example.com, or *' },
      ])
    },
  )
})
