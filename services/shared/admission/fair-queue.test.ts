import { expect, it } from 'vitest'
import { type FairQueue, createFairQueue } from './fair-queue.ts'

const served = (line: FairQueue<string>): string[] => {
  const order: string[] = []
  for (let item = line.first; item !== undefined; item = line.first) {
    order.push(item)
    line.remove(item.slice(0, 1), item, true)
  }
  return order
}

const lineOf = (...items: string[]): FairQueue<string> => {
  const line = createFairQueue<string>()
  for (const item of items) line.add(item.slice(0, 1), item)
  return line
}

it('serves callers in rotation, and the items of one caller in order', () => {
  const line = lineOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2')
  expect(line.size).toBe(6)
  expect(served(line)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(line.size).toBe(0)
})

it('counts the items that are served before a new item', () => {
  const line = lineOf('a1', 'a2', 'a3', 'b1')
  expect(line.ahead('a')).toBe(4)
  expect(line.ahead('b')).toBe(3)
  expect(line.ahead('c')).toBe(2)
})

it('keeps the turn of a caller whose item leaves without being served', () => {
  const line = lineOf('a1', 'a2', 'b1')
  line.remove('a', 'a1', false)
  line.remove('a', 'a1', false)
  expect([line.size, line.first, line.last]).toEqual([2, 'a2', 'b1'])
  line.remove('a', 'a2', false)
  expect([line.size, line.first]).toEqual([1, 'b1'])
})
