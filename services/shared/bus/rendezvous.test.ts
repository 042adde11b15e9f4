import { describe, expect, it } from 'vitest'
import { pick } from './route.ts'

const keys = Array.from({ length: 3_000 }, (_, index) => `host-${index}`)

describe('pick', () => {
  it('has no choice without names', () => {
    expect(pick('host', [])).toBeUndefined()
  })

  it('does not depend on the order of the names', () => {
    for (const key of keys) expect(pick(key, ['a', 'b', 'c'])).toBe(pick(key, ['c', 'a', 'b']))
  })

  it('spreads keys evenly over names that look alike', () => {
    const names = ['query-0', 'query-1', 'query-2']
    for (const name of names) {
      const share = keys.filter((key) => pick(key, names) === name).length
      expect(share).toBeGreaterThan(900)
      expect(share).toBeLessThan(1_100)
    }
  })

  it('moves only the keys of a name that went away', () => {
    const kept = keys.filter((key) => pick(key, ['a', 'b', 'c']) !== 'c')
    for (const key of kept) expect(pick(key, ['a', 'b'])).toBe(pick(key, ['a', 'b', 'c']))
  })
})
