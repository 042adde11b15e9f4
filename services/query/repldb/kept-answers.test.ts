import { describe, expect, it } from 'vitest'
import { mostKeptBytes, openKeptAnswers } from './client.ts'

const keeping = { lifetimeMs: 100, mostEntries: 2 }

describe('answers of the replication service', () => {
  it('are given until their time is over', () => {
    const clock = { ms: 0 }
    const kept = openKeptAnswers(() => clock.ms)
    kept.put('a', 1, 10, keeping)
    clock.ms = 99
    expect(kept.get('a', keeping)).toBe(1)
    clock.ms = 100
    expect(kept.get('a', keeping)).toBeUndefined()
  })

  it('lose the oldest beyond their number', () => {
    const kept = openKeptAnswers(() => 0)
    for (const key of ['a', 'b', 'a', 'c']) kept.put(key, key, 10, keeping)
    expect(['a', 'b', 'c'].map((key) => kept.get(key, keeping))).toEqual(['a', undefined, 'c'])
  })

  it('lose the oldest beyond their size, and one that is longer by itself', () => {
    const kept = openKeptAnswers(() => 0)
    const many = { ...keeping, mostEntries: 100 }
    kept.put('a', 1, mostKeptBytes - 1, many)
    kept.put('b', 2, 2, many)
    expect([kept.get('a', many), kept.get('b', many)]).toEqual([undefined, 2])
    kept.put('c', 3, mostKeptBytes + 1, many)
    expect(kept.get('c', many)).toBeUndefined()
  })

  it('are fewer as soon as fewer may be kept, and none for no time', () => {
    const kept = openKeptAnswers(() => 0)
    for (const key of ['a', 'b']) kept.put(key, key, 10, keeping)
    kept.put('c', 'c', 10, { ...keeping, mostEntries: 1 })
    expect(['a', 'b', 'c'].map((key) => kept.get(key, keeping))).toEqual([undefined, undefined, 'c'])
    kept.put('d', 'd', 10, { ...keeping, lifetimeMs: 0 })
    expect(kept.get('d', keeping)).toBeUndefined()
    expect(kept.get('c', { ...keeping, lifetimeMs: 0 })).toBeUndefined()
  })
})
