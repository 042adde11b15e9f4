import { expect, it } from 'vitest'
import type { ActiveCondition } from '#lib/api/health.ts'
import { createCondition } from './testing/condition.ts'
import { formatNames, groupConditions } from './group-conditions.ts'

const on = (hosts: number, given: Partial<ActiveCondition> = {}) =>
  Array.from({ length: hosts }, (_, index) =>
    createCondition({ ruleId: 'host-down', episode: `${given.ruleId} ${index}`, ...given }),
  )
const sizes = (conditions: readonly ActiveCondition[]) =>
  groupConditions(conditions).map((group) => group.conditions.length)

it('groups conditions of one rule at the position of the first', () => {
  const disk = on(1, { ruleId: 'disk-usage' })
  expect(sizes([...on(2), ...disk, ...on(3)])).toEqual([5, 1])
})

it('does not group small sets, other states or conditions of other systems', () => {
  expect(sizes(on(3))).toEqual([1, 1, 1])
  expect(sizes([...on(4), ...on(4, { phase: 'pending' })])).toEqual([4, 4])
  expect(sizes(on(4, { source: 'elsewhere' }))).toEqual([1, 1, 1, 1])
})

it('keeps the key of a group when hosts join or conditions are acknowledged', () => {
  const [before] = groupConditions(on(4))
  const after = [...on(8), ...on(1, { acknowledged: { untilMs: null } })]
  expect(groupConditions(after).map(({ key }) => key)).toEqual([before?.key])
})

it.each([
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c', 'd'], 'a, b, c and 1 more'],
])('shortens %j', (names, words) => expect(formatNames(names)).toBe(words))
