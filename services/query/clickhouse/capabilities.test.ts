import { expect, it } from 'vitest'
import { validateHostList } from '../hosts/host-list.ts'
import { openCapabilityCache } from './capabilities.ts'

const [host] = validateHostList('COLUMNDB_HOST', [{ url: 'http://a', user: 'u', password: '' }]).hosts
if (!host) throw new Error('invalid host entry in test data')
const capabilitiesOf = (version: string) => ({
  version,
  readonly: 0,
  tables: new Set(['one']),
  logs: new Map<string, string>(),
  missingShow: new Set<never>(),
})

it('refreshes in the background after one minute and makes the caller wait after five', async () => {
  let now = 0
  const cache = openCapabilityCache(() => now)
  const versions = ['24.1', '24.2', '24.3']
  const load = async () => capabilitiesOf(versions.shift() ?? '')
  expect((await cache.of(host, load)).version).toBe('24.1')
  now = 59_999
  expect((await cache.of(host, load)).version).toBe('24.1')
  now = 60_000
  expect((await cache.of(host, load)).version).toBe('24.1')
  expect((await cache.of(host, load)).version).toBe('24.2')
  now += 300_000
  expect((await cache.of(host, load)).version).toBe('24.3')
})

it('does not cache failures of a host or of a table', async () => {
  const cache = openCapabilityCache(() => 0)
  await expect(cache.of(host, () => Promise.reject(new Error('down')))).rejects.toThrow('down')
  expect((await cache.of(host, async () => capabilitiesOf('24.1'))).version).toBe('24.1')
  await expect(cache.presence(host, 'db.t', () => Promise.reject(new Error('hung')))).rejects.toThrow('hung')
  expect(await cache.presence(host, 'db.t', async () => 'missing')).toBe('missing')
  expect(await cache.presence(host, 'db.t', async () => 'present')).toBe('missing')
  cache.forget(host)
  expect(cache.known(host)).toBeUndefined()
})
