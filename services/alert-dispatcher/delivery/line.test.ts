import { expect, it } from 'vitest'
import { openLine } from './line.ts'

const at = (perSecond: number, concurrency = 1) => ({ perSecond, concurrency })

it('lets those who wait come back one after the other, at the pace of their target', () => {
  let nowMs = 1_000
  const line = openLine(() => nowMs)
  expect([1, 2, 3].map(() => line.turnInMs('a', 100, at(5)))).toEqual([100, 300, 500])
  expect(line.turnInMs('b', 100, at(5))).toBe(100)
  nowMs += 400
  expect(line.turnInMs('a', 100, at(5))).toBe(300)
  nowMs += 10_000
  expect(line.turnInMs('a', 100, at(5))).toBe(100)
})

it('lets whoever stands alone come back as soon as it may, however often', () => {
  let nowMs = 0
  const line = openLine(() => nowMs)
  expect(line.turnInMs('a', 300, at(0.3))).toBe(300)
  nowMs = 300.5
  expect(line.turnInMs('a', 2, at(0.3))).toBe(2)
})

it('lets nobody come back before the target has rested', () => {
  const line = openLine(() => 0)
  expect([0, 60_000, 0].map((earliestMs) => line.turnInMs('a', earliestMs, at(5)))).toEqual([0, 60_000, 60_200])
})

it('lets them come back as fast as places before a target that is slow are given back, and no faster', () => {
  let nowMs = 0
  const line = openLine(() => nowMs)
  for (let send = 0; send < 50; send += 1) {
    using _place = line.step('a', 2)
    nowMs += 1_000
  }
  expect([1, 2].map(() => line.turnInMs('a', 0, at(1_000_000, 2)).toFixed())).toEqual(['0', '250'])
})

it('lets whoever waits for one that hangs look ever less often', () => {
  let nowMs = 0
  const line = openLine(() => nowMs)
  line.step('a', 1)
  let looks = 0
  for (; nowMs < 15_000; looks += 1) nowMs += line.turnInMs('a', line.placeInMs('a', 1), at(1_000_000)) + 1
  expect(looks).toBeLessThan(25)
})

it('counts the place of who looks as none that is in its way', () => {
  const line = openLine(() => 0)
  using _own = line.step('a', 1)
  expect(line.turnInMs('a', 20, at(0.25))).toBe(20)
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
