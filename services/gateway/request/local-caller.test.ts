import { describe, expect, it } from 'vitest'
import { isLocalCaller } from './local-caller.ts'

type Case = [address: string | undefined, headers: Record<string, string>]

/** Returns whether a request with these properties counts as local. */
const isLocal = ([remoteAddress, headers]: Case, env = {}): boolean =>
  // The function reads only the address of the socket.
  isLocalCaller({ headers, socket: { remoteAddress } } as Parameters<typeof isLocalCaller>[0], env)

const host = 'localhost:3000'

describe('a local caller', () => {
  it.each<Case>([
    ['127.0.0.1', { host }],
    ['::1', { host: '[::1]:3000' }],
    ['::ffff:127.0.0.1', { host: '127.0.0.1:3000', origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-origin' }],
    ['127.3.2.1', { host, origin: `http://${host}` }],
  ])('is one at %s with %j', (...request) => {
    expect(isLocal(request)).toBe(true)
  })

  it.each<Case>([
    ['10.0.0.5', { host }],
    ['::ffff:10.0.0.5', { host }],
    [undefined, { host }],
    ['127.0.0.1', {}],
    ['127.0.0.1', { host: 'watch.example.com' }],
    ['127.0.0.1', { host: 'localhost.example.com' }],
    ['127.0.0.1', { host: 'localhost@evil.example' }],
    ['127.0.0.1', { host, origin: 'https://evil.example' }],
    ['127.0.0.1', { host, origin: 'null' }],
    ['127.0.0.1', { host, origin: 'http://localhost:4000' }],
    ['127.0.0.1', { host, 'sec-fetch-site': 'cross-site' }],
    ['127.0.0.1', { host, 'sec-fetch-site': 'same-site' }],
    ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'cf-connecting-ip'].map(
      (name): Case => ['127.0.0.1', { host, [name]: '127.0.0.1' }],
    ),
  ])('is none at %s with %j', (...request) => {
    expect(isLocal(request)).toBe(false)
  })

  it.each([
    ['https://watch.example.com', false],
    ['http://localhost:3000', true],
  ])('with the public URL %s is one: %s', (publicUrl, isOne) => {
    expect(isLocal(['127.0.0.1', { host }], { SVC_PUBLIC_URL: publicUrl })).toBe(isOne)
  })
})
