import { expect, it } from 'vitest'
import { inLanes } from './lanes.ts'

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
