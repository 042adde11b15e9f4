import { expect, it } from 'vitest'
import { inLanes, queueByQueue } from './in-lanes.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

it('does each item once, in their order, so many at a time', async () => {
  const [begun, most] = [[] as number[], { inFlight: 0, ever: 0 }]
  await inLanes(numbers(50), 4, async (item) => {
    begun.push(item)
    most.ever = Math.max(most.ever, ++most.inFlight)
    await Promise.resolve()
    most.inFlight -= 1
  })
  expect(begun).toEqual(numbers(50))
  expect(most).toEqual({ inFlight: 0, ever: 4 })
})

it('begins nothing after a failure, and ends what has begun before it rejects', async () => {
  const [begun, ended] = [[] as number[], [] as number[]]
  const second = Promise.withResolvers<void>()
  const working = inLanes(numbers(9), 2, async (item) => {
    begun.push(item)
    if (item === 0) throw new Error('the first failed')
    await second.promise
    ended.push(item)
  })
  second.resolve()
  await expect(working).rejects.toThrow('the first failed')
  expect([begun, ended]).toEqual([[0, 1], [1]])
})

it('needs no items', async () => {
  await expect(inLanes([], 4, () => Promise.reject(new Error('not asked')))).resolves.toBeUndefined()
})

it('begins a queue when nothing of the one before it waits, though some of it goes on', async () => {
  const begun: number[] = []
  const released = Promise.withResolvers<void>()
  const most = { inFlight: 0, ever: 0 }
  const queues = [
    { items: [1, 2, 3, 4], atOnce: 4 },
    { items: [10, 11, 12, 13], atOnce: 2 },
  ]
  const working = queueByQueue(queues, async (item) => {
    begun.push(item)
    // Those that were begun first are ready last.
    if (item < 3) return released.promise
    if (item < 10) return
    most.ever = Math.max(most.ever, ++most.inFlight)
    await Promise.resolve()
    most.inFlight -= 1
    if (item === 13) released.resolve()
  })
  await working
  expect(begun).toEqual([1, 2, 3, 4, 10, 11, 12, 13])
  expect(most.ever).toBe(2)
})
