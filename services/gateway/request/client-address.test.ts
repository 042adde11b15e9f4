import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startFakeProduct } from '../testing/fake-product.ts'
import { resolveRateLimitKey, resolveClientNetwork } from './client-address.ts'

const nearest = '10.0.0.9'
const requestWith = (headers: Record<string, string | string[]>, remoteAddress: string | undefined = nearest) =>
  // Only these fields of the request are used.
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage

const real = { 'x-real-ip': '192.0.2.1' }
const forwarded = { 'x-forwarded-for': '192.0.2.2' }
const edge = { 'cf-connecting-ip': '192.0.2.3' }
const on = { SVC_TRUST_PROXY_HEADERS: 'true' }
const off = { SVC_TRUST_PROXY_HEADERS: 'false' }
const worker = { EDGE_WORKERS: '1' }
const chosen = (header: string) => ({ ...on, SVC_CLIENT_ADDRESS_HEADER: header })

type Row = [env: Record<string, string>, headers: Record<string, string>, address: string]

describe('trusted headers', () => {
  const everything = { ...real, ...forwarded, ...edge }
  const rows: Row[] = [
    [{}, everything, nearest],
    [on, forwarded, '192.0.2.2'],
    [on, real, nearest],
    [on, edge, nearest],
    [on, everything, '192.0.2.2'],
    [chosen('X-Forwarded-For'), everything, '192.0.2.2'],
    [chosen('X-Real-IP'), everything, '192.0.2.1'],
    [chosen(' CF-Connecting-IP '), everything, '192.0.2.3'],
    [chosen('X-Client'), { ...everything, 'x-client': '192.0.2.4' }, '192.0.2.4'],
    [chosen('X-Client'), everything, nearest],
    [{ SVC_CLIENT_ADDRESS_HEADER: 'X-Real-IP' }, real, nearest],
    [{ ...off, SVC_CLIENT_ADDRESS_HEADER: 'X-Real-IP' }, real, nearest],
    [on, {}, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: '1' }, forwarded, '192.0.2.2'],
    [{ SVC_TRUST_PROXY_HEADERS: 'Cloud' }, forwarded, '192.0.2.2'],
    [{ SVC_TRUST_PROXY_HEADERS: 'yes' }, everything, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: 'on' }, everything, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: '' }, everything, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: '0' }, everything, nearest],
    [off, everything, nearest],
    [worker, edge, '192.0.2.3'],
    [worker, everything, '192.0.2.3'],
    [{ ...worker, ...on }, everything, '192.0.2.3'],
    [{ ...worker, SVC_CLIENT_ADDRESS_HEADER: 'X-Real-IP' }, everything, '192.0.2.1'],
    [{ ...worker, SVC_CLIENT_ADDRESS_HEADER: 'X-Real-IP' }, edge, nearest],
    [worker, real, nearest],
    [worker, forwarded, '192.0.2.2'],
    [{ EDGE_PAGES: '1' }, forwarded, '192.0.2.2'],
    [{ EDGE_LOCAL_EMULATOR: '1' }, forwarded, '192.0.2.2'],
    [{ ...worker, ...off }, { ...real, ...forwarded }, nearest],
    [{ ...worker, ...off }, everything, '192.0.2.3'],
    [{ ...worker, ...off, SVC_CLIENT_ADDRESS_HEADER: 'X-Real-IP' }, everything, '192.0.2.3'],
    [{ ...worker, SVC_TRUST_PROXY_HEADERS: 'yes' }, forwarded, '192.0.2.2'],
  ]
  it.each(rows)('with %j and headers %j: %s', (env, headers, address) => {
    expect(resolveRateLimitKey(requestWith(headers), env)).toBe(address)
  })
})

describe('X-Forwarded-For', () => {
  const rows: [header: string, hops: number, address: string][] = [
    ['192.0.2.2', 1, '192.0.2.2'],
    ['198.51.100.7, 192.0.2.2', 1, '192.0.2.2'],
    ['198.51.100.7, 10.1.1.1', 1, '10.1.1.1'],
    ['192.0.2.2, 10.0.0.1', 2, '192.0.2.2'],
    ['198.51.100.7,192.0.2.2,\t172.16.3.4', 2, '192.0.2.2'],
    ['198.51.100.7, 192.0.2.2, 172.16.3.4, 10.0.0.1', 3, '192.0.2.2'],
    ['192.0.2.2', 3, '192.0.2.2'],
    ['unknown, 10.0.0.1', 2, nearest],
  ]
  it.each(rows)('%s with %d trusted proxies is %s', (header, hops, address) => {
    const env = { ...on, SVC_TRUSTED_PROXY_HOPS: String(hops) }
    expect(resolveRateLimitKey(requestWith({ 'x-forwarded-for': header }), env)).toBe(address)
  })
})

describe('two trusted proxies, where the second names the first in X-Real-IP', () => {
  const chain = { 'x-forwarded-for': '198.51.100.7, 192.0.2.2, 172.16.3.4', 'x-real-ip': '172.16.3.4' }
  const hops = { ...on, SVC_TRUSTED_PROXY_HOPS: '2' }
  it.each([
    ['X-Forwarded-For', '192.0.2.2'],
    ['X-Original-Forwarded-For', '192.0.2.5'],
    // These headers have one value, so no hops are counted.
    ['X-Real-IP', '172.16.3.4'],
    ['X-Client', '192.0.2.4'],
  ])('%s names %s', (header, address) => {
    const headers = {
      ...chain,
      'x-original-forwarded-for': '192.0.2.5, 172.16.3.4',
      'x-client': '198.51.100.7, 192.0.2.4',
    }
    expect(resolveRateLimitKey(requestWith(headers), { ...hops, SVC_CLIENT_ADDRESS_HEADER: header })).toBe(address)
    expect(resolveRateLimitKey(requestWith(headers), hops)).toBe('192.0.2.2')
  })
})

describe('a proxy that sets another header than the configured one', () => {
  const warnings = async (env: Record<string, string>, ...requests: Record<string, string>[]) => {
    await using product = await startFakeProduct({ env })
    for (const headers of requests) await fetch(`${product.url}/api/version`, { headers })
    return product.logged.filter((line) => line.includes('client address header missing'))
  }

  it('logs one warning', async () => {
    const logged = await warnings(on, real, real, edge)
    expect(logged).toHaveLength(1)
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({ header: 'x-forwarded-for', present: 'x-real-ip' })
    expect(await warnings(chosen('X-Real-IP'), forwarded)).toHaveLength(1)
  })

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['the configured header is present too', on, { ...real, ...forwarded }],
    ['no header is present, as in a probe', on, {}],
    ['no header is trusted', {}, real],
  ])('logs no warning when %s', async (_what, env, headers) => {
    expect(await warnings(env, headers)).toEqual([])
  })
})

describe('an address in X-Forwarded-For', () => {
  const rows: [header: string, address: string][] = [
    ['192.0.2.2, unknown', nearest],
    ['192.0.2.2:4711', '192.0.2.2'],
    ['[2001:db8:1:2:3::4]:443', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.2', '192.0.2.2'],
    ['::ffff:c000:202', '192.0.2.2'],
    ['3221226000', nearest],
    ['0xc0.0.2.2', nearest],
    ['192.0.2', nearest],
    ['192.0.2.256', nearest],
    ['192.0.2.02', nearest],
    ['"192.0.2.2"', nearest],
    [', ,', nearest],
    ['', nearest],
  ]
  it.each(rows)('%s is %s', (header, address) => {
    expect(resolveRateLimitKey(requestWith({ 'x-forwarded-for': header }), on)).toBe(address)
  })
})

describe('the network of a client', () => {
  it.each([
    ['192.0.2.2', '192.0.2.0/24'],
    ['::ffff:192.0.2.2', '192.0.2.0/24'],
    ['2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
  ])('at %s is %s', (address, prefix) => {
    expect(resolveClientNetwork(requestWith({}, address), {})).toBe(prefix)
    expect(resolveClientNetwork(requestWith({ 'x-forwarded-for': address }), on)).toBe(prefix)
  })
})

describe('a connection', () => {
  it('counts under its network over IPv6, and as IPv4 over mapped IPv4', () => {
    expect(resolveRateLimitKey(requestWith({}, '2001:db8::1'), {})).toBe('2001:db8:0:0::/64')
    expect(resolveRateLimitKey(requestWith({}, '::ffff:192.0.2.2'), {})).toBe('192.0.2.2')
  })

  it('without an address has the same key for all its requests', () => {
    // Only these fields of the request are used.
    const local = () => ({ headers: {}, socket: {} }) as unknown as IncomingMessage
    const [one, other] = [local(), local()]
    expect(resolveRateLimitKey(one, {})).toBe(resolveRateLimitKey(one, {}))
    expect(resolveRateLimitKey(one, {})).not.toBe(resolveRateLimitKey(other, {}))
  })
})
