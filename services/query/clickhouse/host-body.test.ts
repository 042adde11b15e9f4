import fc from 'fast-check'
import { expect, it } from 'vitest'
import { frameBytes } from '#shared/bus/limits.ts'
import { openArrivals } from './host-body.ts'

const opened = (chunks: readonly Buffer[], error?: Error) => {
  let rooms = 0
  const arrivals = openArrivals(() => rooms++)
  for (const chunk of chunks) arrivals.push(Buffer.concat([chunk]))
  if (error || chunks.length > 0) arrivals.end(error)
  return { arrivals, rooms: () => rooms }
}

it('gives all that came in order, behind what the reader left of the piece before', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 })
  const chunksOfAnySize = fc.array(fc.tuple(bytes, fc.constantFrom(1, 700)), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(chunksOfAnySize, fc.integer({ min: 0, max: 400 }), async (given, leaves) => {
      const chunks = given.map(([part, times]) => Buffer.concat(Array.from({ length: times }, () => part)))
      const { arrivals } = opened(chunks)
      const read: Buffer[] = []
      let left: Buffer = Buffer.alloc(0)
      for (let piece = await arrivals.take(); piece; piece = await arrivals.take(left)) {
        const end = Math.max(0, piece.length - leaves)
        read.push(Buffer.from(piece.subarray(0, end)))
        left = piece.subarray(end)
      }
      expect(Buffer.concat([...read, left]).equals(Buffer.concat(chunks))).toBe(true)
    }),
  )
})

it('joins what has come in pieces that the bus can carry', async () => {
  const chunk = Buffer.alloc(60_000, 'x')
  const { arrivals } = opened(Array.from({ length: 10 }, () => chunk))
  const sizes: number[] = []
  for (let piece = await arrivals.take(); piece; piece = await arrivals.take()) sizes.push(piece.length)
  expect(sizes).toEqual([240_000, 240_000, 120_000])
  expect(Math.max(...sizes)).toBeLessThanOrEqual(frameBytes)
})

it('gives the memory of chunks back once they are joined', async () => {
  const { arrivals } = opened([])
  const chunks = [Buffer.alloc(60_000), Buffer.alloc(60_000)]
  for (const chunk of chunks) arrivals.push(chunk)
  expect((await arrivals.take())?.length).toBe(120_000)
  expect(chunks.map(({ length }) => length)).toEqual([0, 0])
})

it('grows for a row that is longer than a piece', async () => {
  const chunk = Buffer.alloc(frameBytes, 'x')
  const { arrivals } = opened([chunk, chunk, chunk, chunk])
  let piece: Buffer | undefined = Buffer.alloc(0)
  let longest = 0
  for (; piece; piece = await arrivals.take(piece)) longest = piece.length
  expect(longest).toBe(4 * frameBytes)
})

it('tells an error after what came before it, and each time', async () => {
  const { arrivals } = opened([Buffer.from('a')], new Error('cut'))
  expect((await arrivals.take())?.toString()).toBe('a')
  await expect(arrivals.take()).rejects.toThrow('cut')
  await expect(arrivals.take()).rejects.toThrow('cut')
})

it('waits for what has not come, and says when there is room for more', async () => {
  const { arrivals, rooms } = opened([])
  const taken = arrivals.take()
  expect(rooms()).toBe(0)
  arrivals.push(Buffer.alloc(frameBytes))
  expect(arrivals.isFull()).toBe(true)
  expect((await taken)?.length).toBe(frameBytes)
  expect([arrivals.isFull(), rooms()]).toEqual([false, 1])
  const end = arrivals.take()
  arrivals.end()
  expect(await end).toBeUndefined()
})
