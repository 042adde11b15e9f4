import { expect, it } from 'vitest'
import { openEqualSets } from './equal-sets.ts'

it('gives one set for equal names in any order, and another for others', () => {
  const equal = openEqualSets()
  const tables = equal(['parts', 'metrics'])
  expect(tables).toEqual(new Set(['parts', 'metrics']))
  expect(equal(['metrics', 'parts'])).toBe(tables)
  expect(equal(['metrics'])).not.toBe(tables)
})

it('forgets what nobody has needed for longest', () => {
  const equal = openEqualSets()
  const [first, second] = [equal(['first']), equal(['second'])]
  for (let other = 0; other < 99; other++) {
    equal([`other-${other}`])
    expect(equal(['first'])).toBe(first)
  }
  expect(equal(['second'])).not.toBe(second)
})
