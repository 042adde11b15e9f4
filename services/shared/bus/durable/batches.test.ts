import { expect, it } from 'vitest'
import { createBatchWriter } from './batches.ts'

it('combines items that arrive during a write, in order, and reports to each the result of its batch', async () => {
  const batches: string[][] = []
  const writes = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { write, idle } = createBatchWriter<string>(async (items) => {
    batches.push([...items])
    await writes[batches.length - 1]?.promise
  })
  const first = write('a')
  // Lets the first write start.
  await Promise.resolve()
  const rest = [write('b'), write('c')]
  expect(batches).toEqual([['a']])
  writes[0]?.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  writes[1]?.resolve()
  await Promise.all(rest)
  await idle()
  expect(batches).toEqual([['a'], ['b', 'c']])
})

it('writes at most 500 items at once', async () => {
  const sizes: number[] = []
  const { write } = createBatchWriter<number>(async ({ length }) => void sizes.push(length))
  await Promise.all(Array.from({ length: 1_001 }, (_, index) => write(index)))
  expect(sizes).toEqual([500, 500, 1])
})
