import { expect, it } from 'vitest'
import { openLine } from './line.ts'

it('lets those who wait come back one after the other, at the pace of their target', () => {
  let nowMs = 1_000
  const line = openLine(() => nowMs)
  expect([1, 2, 3].map(() => line.turnInMs('a', 100, 5))).toEqual([100, 300, 500])
  expect(line.turnInMs('b', 100, 5)).toBe(100)
  nowMs += 400
  expect(line.turnInMs('a', 100, 5)).toBe(300)
  nowMs += 10_000
  expect(line.turnInMs('a', 100, 5)).toBe(100)
})

it('lets whoever stands alone come back as soon as it may, however often', () => {
  let nowMs = 0
  const line = openLine(() => nowMs)
  expect(line.turnInMs('a', 300, 0.3)).toBe(300)
  nowMs = 300.5
  expect(line.turnInMs('a', 2, 0.3)).toBe(2)
})

it('lets nobody come back before the target has rested', () => {
  const line = openLine(() => 0)
  expect([0, 60_000, 0].map((earliestMs) => line.turnInMs('a', earliestMs, 5))).toEqual([0, 60_000, 60_200])
})

it('does not let them look more often than is of use', () => {
  const line = openLine(() => 0)
  expect([1, 2].map(() => line.turnInMs('a', 0, 1_000_000))).toEqual([0, 20])
})

it('has as many places as a target takes, for each target', () => {
  const line = openLine()
  const first = line.step('a', 2)
  expect([first, line.step('a', 2), line.step('a', 2), line.step('b', 2)].map(Boolean)).toEqual([
    true,
    true,
    false,
    true,
  ])
  first?.[Symbol.dispose]()
  expect(line.step('a', 2)).toBeDefined()
  expect(line.step('a', 2)).toBeUndefined()
})
