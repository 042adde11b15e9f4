import { expect, it } from 'vitest'
import { runConcurrently, runQueues } from './run-concurrently.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

it('processes each item once, in order, with limited concurrency', async () => {
  const [started, concurrency] = [[] as number[], { inFlight: 0, ever: 0 }]
  await runConcurrently(numbers(50), 4, async (item) => {
    started.push(item)
    concurrency.ever = Math.max(concurrency.ever, ++concurrency.inFlight)
    await Promise.resolve()
    concurrency.inFlight -= 1
  })
  expect(started).toEqual(numbers(50))
  expect(concurrency).toEqual({ inFlight: 0, ever: 4 })
})

it('starts nothing after a failure, and waits for running items before it rejects', async () => {
  const [started, ended] = [[] as number[], [] as number[]]
  const second = Promise.withResolvers<void>()
  const working = runConcurrently(numbers(9), 2, async (item) => {
    started.push(item)
    if (item === 0) throw new Error('the first failed')
    await second.promise
    ended.push(item)
  })
  second.resolve()
  await expect(working).rejects.toThrow('the first failed')
  expect([started, ended]).toEqual([[0, 1], [1]])
})

it('accepts an empty list', async () => {
  await expect(runConcurrently([], 4, () => Promise.reject(new Error('unexpected call')))).resolves.toBeUndefined()
})

it('starts a queue once no item of the previous one waits', async () => {
  const started: number[] = []
  const released = Promise.withResolvers<void>()
  const concurrency = { inFlight: 0, ever: 0 }
  const queues = [
    { items: [1, 2, 3, 4], atOnce: 4 },
    { items: [10, 11, 12, 13], atOnce: 2 },
  ]
  const working = runQueues(queues, async (item) => {
    started.push(item)
    // The first items finish last.
    if (item < 3) return released.promise
    if (item < 10) return
    concurrency.ever = Math.max(concurrency.ever, ++concurrency.inFlight)
    await Promise.resolve()
    concurrency.inFlight -= 1
    if (item === 13) released.resolve()
  })
  await working
  expect(started).toEqual([1, 2, 3, 4, 10, 11, 12, 13])
  expect(concurrency.ever).toBe(2)
})
