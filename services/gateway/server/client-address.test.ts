import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { clientAddress } from './client-address.ts'

const nearest = '10.0.0.9'
const asked = (headers: Record<string, string | string[]>, remoteAddress: string | undefined = nearest) =>
  // The address looks at nothing else of a request.
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage

const real = { 'x-real-ip': '192.0.2.1' }
const forwarded = { 'x-forwarded-for': '192.0.2.2' }
const edge = { 'cf-connecting-ip': '192.0.2.3' }
const on = { SVC_TRUST_PROXY_HEADERS: 'true' }
const off = { SVC_TRUST_PROXY_HEADERS: 'false' }
const worker = { EDGE_WORKERS: '1' }

type Row = [env: Record<string, string>, headers: Record<string, string>, address: string]

describe('which headers are believed', () => {
  const everything = { ...real, ...forwarded, ...edge }
  const rows: Row[] = [
    [{}, everything, nearest],
    [on, real, '192.0.2.1'],
    [on, forwarded, '192.0.2.2'],
    [on, { ...real, ...forwarded }, '192.0.2.1'],
    [on, everything, '192.0.2.3'],
    [on, {}, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: '1' }, real, '192.0.2.1'],
    [{ SVC_TRUST_PROXY_HEADERS: 'Cloud' }, real, '192.0.2.1'],
    [{ SVC_TRUST_PROXY_HEADERS: 'yes' }, everything, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: 'on' }, everything, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: '' }, everything, nearest],
    [{ SVC_TRUST_PROXY_HEADERS: '0' }, everything, nearest],
    [off, everything, nearest],
    [worker, edge, '192.0.2.3'],
    [worker, real, '192.0.2.1'],
    [worker, forwarded, '192.0.2.2'],
    [{ EDGE_PAGES: '1' }, forwarded, '192.0.2.2'],
    [{ EDGE_LOCAL_EMULATOR: '1' }, forwarded, '192.0.2.2'],
    [{ ...worker, ...off }, { ...real, ...forwarded }, nearest],
    [{ ...worker, ...off }, everything, '192.0.2.3'],
    [{ ...worker, SVC_TRUST_PROXY_HEADERS: 'yes' }, real, '192.0.2.1'],
  ]
  it.each(rows)('with %j of %j: %s', (env, headers, address) => {
    expect(clientAddress(asked(headers), env)).toBe(address)
  })
})

describe('what is read from X-Forwarded-For', () => {
  const rows: [header: string, address: string][] = [
    ['192.0.2.2', '192.0.2.2'],
    ['192.0.2.2, 10.0.0.1', '192.0.2.2'],
    ['192.0.2.2,10.0.0.1,\t172.16.3.4, fd00::1', '192.0.2.2'],
    ['198.51.100.7, 192.0.2.2', '192.0.2.2'],
    ['198.51.100.7, 192.0.2.2, 10.0.0.1', '192.0.2.2'],
    ['10.1.1.1, 10.0.0.1', '10.1.1.1'],
    ['unknown, 10.0.0.1', '10.0.0.1'],
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
    expect(clientAddress(asked({ 'x-forwarded-for': header }), on)).toBe(address)
  })
})

describe('a connection', () => {
  it('over IPv6 counts with its network, and one over mapped IPv4 as IPv4', () => {
    expect(clientAddress(asked({}, '2001:db8::1'), {})).toBe('2001:db8:0:0::/64')
    expect(clientAddress(asked({}, '::ffff:192.0.2.2'), {})).toBe('192.0.2.2')
  })

  it('without an address counts for itself, whenever it asks', () => {
    const local = () => ({ headers: {}, socket: {} }) as unknown as IncomingMessage // As above.
    const [one, other] = [local(), local()]
    expect(clientAddress(one, {})).toBe(clientAddress(one, {}))
    expect(clientAddress(one, {})).not.toBe(clientAddress(other, {}))
  })
})
