import { expect, it } from 'vitest'
import { maxCachedBytes, openResultCache } from './result-cache.ts'

it('evicts a result after the lifetime of its class', () => {
  // The cache treats a time of 0 as unset.
  let now = 1
  const cache = openResultCache<string>(() => now)
  cache.put('live', 'a', 1, 'realtime')
  cache.put('old', 'b', 1, 'historical')
  now = 10_001
  expect([cache.get('live'), cache.get('old')]).toEqual(['a', 'b'])
  now = 10_002
  expect([cache.get('live'), cache.get('old')]).toEqual([undefined, 'b'])
  now = 120_002
  expect(cache.get('old')).toBeUndefined()
})

it('evicts the oldest results beyond its maximum number and size, and does not store one that is too large', () => {
  const cache = openResultCache<number>(() => 1)
  for (let index = 0; index < 501; index++) cache.put(`k${index}`, index, 1, 'standard')
  expect([cache.get('k0'), cache.get('k1'), cache.get('k500')]).toEqual([undefined, 1, 500])
  cache.put('large', 1, maxCachedBytes, 'standard')
  expect([cache.get('k500'), cache.get('large')]).toEqual([undefined, 1])
  cache.put('larger', 2, maxCachedBytes + 1, 'standard')
  expect(cache.get('larger')).toBeUndefined()
})
