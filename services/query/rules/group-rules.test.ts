import { expect, it } from 'vitest'
import { groupRules } from './plan.ts'

const ready = (key: string, table: string, alone = false, isSlow = false) => ({
  key,
  requires: [table],
  sql: '',
  columns: ['measured' as const],
  alone,
  isSlow,
})
const many = (count: number, alone: boolean) =>
  Array.from({ length: count }, (_, index) => ready(`${alone}${index}`, `system.t${index % 7}`, alone))

it('groups rules by table and puts slow groups first', () => {
  const groups = groupRules([
    ready('a', 'system.parts'),
    ready('b', 'system.metrics'),
    ready('long', 'system.query_log', true),
    ready('late', 'system.parts', false, true),
    ready('later', 'system.metrics', false, true),
    ready('c', 'system.parts'),
  ])
  expect(groups.map((group) => group.map(({ key }) => key))).toEqual([['long'], ['late', 'later'], ['b', 'a', 'c']])
})

it.each([0, 1, 8, 9, 60, 90, 400])('puts %i rules into at most nine statements', (count) => {
  const rules = [...many(count, false), ...many(7, true), ready('late', 'system.parts', false, true)]
  const groups = groupRules(rules)
  expect(groups.length).toBeLessThanOrEqual(9)
  expect(
    groups
      .flat()
      .map(({ key }) => key)
      .toSorted(),
  ).toEqual(rules.map(({ key }) => key).toSorted())
})
