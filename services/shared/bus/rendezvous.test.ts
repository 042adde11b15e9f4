import { describe, expect, it } from 'vitest'
import { pickByHash, rankByHash } from './rendezvous.ts'

const keys = Array.from({ length: 3_000 }, (_, index) => `host-${index}`)

describe('rendezvous hashing', () => {
  it('returns undefined without names', () => {
    expect(pickByHash('host', [])).toBeUndefined()
  })

  it('does not depend on the order of the names', () => {
    for (const key of keys) expect(pickByHash(key, ['a', 'b', 'c'])).toBe(pickByHash(key, ['c', 'a', 'b']))
  })

  it('distributes keys evenly over similar names', () => {
    const names = ['query-0', 'query-1', 'query-2']
    for (const name of names) {
      const share = keys.filter((key) => pickByHash(key, names) === name).length
      expect(share).toBeGreaterThan(900)
      expect(share).toBeLessThan(1_100)
    }
  })

  it('moves only the keys of a removed name', () => {
    const kept = keys.filter((key) => pickByHash(key, ['a', 'b', 'c']) !== 'c')
    for (const key of kept) expect(pickByHash(key, ['a', 'b'])).toBe(pickByHash(key, ['a', 'b', 'c']))
  })

  it('ranks all names, the best one first', () => {
    for (const key of keys) {
      const ranked = rankByHash(key, ['a', 'b', 'c'])
      expect(ranked[0]).toBe(pickByHash(key, ['a', 'b', 'c']))
      expect(ranked.slice(1)[0]).toBe(
        pickByHash(
          key,
          ['a', 'b', 'c'].filter((name) => name !== ranked[0]),
        ),
      )
    }
  })
})
