import { describe, expect, it } from 'vitest'
import { maxCachedResponseBytes, openResponseCache } from './client.ts'

const limits = { lifetimeMs: 100, maxEntries: 2 }

describe('the response cache', () => {
  it('returns responses until they expire', () => {
    const clock = { ms: 0 }
    const cache = openResponseCache(() => clock.ms)
    cache.put('a', 1, 10, limits)
    clock.ms = 99
    expect(cache.get('a', limits)).toBe(1)
    clock.ms = 100
    expect(cache.get('a', limits)).toBeUndefined()
  })

  it('drops the oldest beyond the maximum number', () => {
    const cache = openResponseCache(() => 0)
    for (const key of ['a', 'b', 'a', 'c']) cache.put(key, key, 10, limits)
    expect(['a', 'b', 'c'].map((key) => cache.get(key, limits))).toEqual(['a', undefined, 'c'])
  })

  it('drops the oldest beyond the maximum size', () => {
    const cache = openResponseCache(() => 0)
    const many = { ...limits, maxEntries: 100 }
    cache.put('a', 1, maxCachedResponseBytes - 1, many)
    cache.put('b', 2, 2, many)
    expect([cache.get('a', many), cache.get('b', many)]).toEqual([undefined, 2])
    cache.put('c', 3, maxCachedResponseBytes + 1, many)
    expect(cache.get('c', many)).toBeUndefined()
  })

  it('applies lowered limits at once', () => {
    const cache = openResponseCache(() => 0)
    for (const key of ['a', 'b']) cache.put(key, key, 10, limits)
    cache.put('c', 'c', 10, { ...limits, maxEntries: 1 })
    expect(['a', 'b', 'c'].map((key) => cache.get(key, limits))).toEqual([undefined, undefined, 'c'])
    cache.put('d', 'd', 10, { ...limits, lifetimeMs: 0 })
    expect(cache.get('d', limits)).toBeUndefined()
    expect(cache.get('c', { ...limits, lifetimeMs: 0 })).toBeUndefined()
  })
})
