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

  it('is answered by the tool server whatever it asks beforehand, and so is who names no page', async () => {
    await using product = await startFake({})
    for (const origin of [{ origin: stranger }, {}]) {
      const headers = { ...preflight, ...origin }
      const asked = await fetch(`${product.url}/api/mcp`, { method: 'OPTIONS', headers })
      expect(asked.status).toBe(204)
      expect(asked.headers.get('access-control-allow-headers')).toBe('authorization')
      expect(asked.headers.get('access-control-allow-methods')).toContain('POST')
      expect(asked.headers.get('access-control-allow-origin')).toBeNull()
    }
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
