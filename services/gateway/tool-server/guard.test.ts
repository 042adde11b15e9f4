import { describe, expect, it } from 'vitest'
import { requireOwnSite } from './guard.ts'

const passes = (
  host: string,
  localAddress: string,
  env: Record<string, string> = {},
  origin?: string,
  socket = { localAddress },
): boolean => {
  const headers = { host, ...(origin && { origin }) }
  // The guard reads these facts of a request and no others.
  const request = { headers, protocol: 'http', socket } as Parameters<typeof requireOwnSite>[0]
  try {
    requireOwnSite(request, env)
    return true
  } catch {
    return false
  }
}

const publicUrl = { SVC_PUBLIC_URL: 'https://watch.example.com' }

describe('a request to the tool server', () => {
  it.each([
    ['localhost:3000', '127.0.0.1', {}, true],
    ['[::1]:3000', '::1', {}, true],
    ['127.0.0.1:3000', '::ffff:127.0.0.1', {}, true],
    ['evil.example.com', '127.0.0.1', {}, false],
    ['localhost.evil.example.com', '::1', {}, false],
    ['evil.example.com', '10.0.0.7', {}, true],
    ['watch.example.com', '127.0.0.1', publicUrl, true],
    ['evil.example.com', '127.0.0.1', publicUrl, false],
    ['evil.example.com', '127.0.0.1', { SVC_TRUST_PROXY_HEADERS: 'true' }, true],
  ])('for the host %s that arrives at %s with %j: %s', (host, address, env, expected) => {
    expect(passes(host, address, env)).toBe(expected)
  })

  it('is judged by the host that it names itself, whatever came before it on the connection', () => {
    const localAddress = '127.0.0.1'
    const socket = { localAddress }
    const named = ['localhost', 'localhost', 'evil.example.com', 'evil.example.com', 'localhost']
    const judged = named.map((host) => passes(host, localAddress, {}, undefined, socket))
    expect(judged).toEqual([true, true, false, false, true])
    expect(passes('evil.example.com', localAddress, { SVC_TRUST_PROXY_HEADERS: 'true' }, undefined, socket)).toBe(true)
  })

  it.each([
    ['http://watch.local:3000', {}, true],
    ['http://watch.local', {}, false],
    ['https://watch.local:3000', {}, false],
    ['null', {}, false],
    ['https://tools.example.com', { SVC_CORS_ORIGINS: 'https://tools.example.com' }, true],
    ['https://other.example.com', { SVC_CORS_ORIGINS: 'https://tools.example.com' }, false],
    ['https://other.example.com', { SVC_CORS_ORIGINS: '*' }, true],
  ])('from a page of %s with %j: %s', (origin, env, expected) => {
    expect(passes('watch.local:3000', '10.0.0.7', env, origin)).toBe(expected)
  })
})
