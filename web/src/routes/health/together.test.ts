import { expect, it } from 'vitest'
import type { LiveCondition } from '#lib/api/health.ts'
import { conditionOf } from './testing/condition.ts'
import { someOf, together } from './together.ts'

const on = (hosts: number, given: Partial<LiveCondition> = {}) =>
  Array.from({ length: hosts }, (_, index) =>
    conditionOf({ ruleId: 'host-down', episode: `${given.ruleId} ${index}`, ...given }),
  )
const sizes = (conditions: readonly LiveCondition[]) => together(conditions).map((group) => group.conditions.length)

it('puts together what many hosts have of one rule, where the first of it stands', () => {
  const disk = on(1, { ruleId: 'disk-usage' })
  expect(sizes([...on(2), ...disk, ...on(3)])).toEqual([5, 1])
})

it('leaves apart what few have, what stands otherwise, and what other systems found', () => {
  expect(sizes(on(3))).toEqual([1, 1, 1])
  expect(sizes([...on(4), ...on(4, { phase: 'pending' })])).toEqual([4, 4])
  expect(sizes(on(4, { source: 'elsewhere' }))).toEqual([1, 1, 1, 1])
})

it('keeps the key of a group while hosts join it and some are acknowledged', () => {
  const [before] = together(on(4))
  const after = [...on(8), ...on(1, { acknowledged: { untilMs: null } })]
  expect(together(after).map(({ key }) => key)).toEqual([before?.key])
})

it.each([
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c', 'd'], 'a, b, c and 1 more'],
])('names some of %j', (names, words) => expect(someOf(names)).toBe(words))
