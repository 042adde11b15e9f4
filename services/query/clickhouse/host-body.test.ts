import fc from 'fast-check'
import { expect, it } from 'vitest'
import { maxFrameBytes } from '#shared/bus/limits.ts'
import { openChunkBuffer } from './host-body.ts'

const openBuffer = (chunks: readonly Buffer[], error?: Error) => {
  let rooms = 0
  const buffer = openChunkBuffer(() => rooms++)
  for (const chunk of chunks) buffer.push(Buffer.concat([chunk]))
  if (error || chunks.length > 0) buffer.end(error)
  return { buffer, rooms: () => rooms }
}

it('returns all bytes in order, preceded by the unread rest of the previous piece', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 })
  const chunksOfAnySize = fc.array(fc.tuple(bytes, fc.constantFrom(1, 700)), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(chunksOfAnySize, fc.integer({ min: 0, max: 400 }), async (repeats, leaves) => {
      const chunks = repeats.map(([part, times]) => Buffer.concat(Array.from({ length: times }, () => part)))
      const { buffer } = openBuffer(chunks)
      const read: Buffer[] = []
      let left: Buffer = Buffer.alloc(0)
      for (let piece = await buffer.take(); piece; piece = await buffer.take(left)) {
        const end = Math.max(0, piece.length - leaves)
        read.push(Buffer.from(piece.subarray(0, end)))
        left = piece.subarray(end)
      }
      expect(Buffer.concat([...read, left]).equals(Buffer.concat(chunks))).toBe(true)
    }),
  )
})

it('joins chunks into pieces that fit into a bus message', async () => {
  const chunk = Buffer.alloc(60_000, 'x')
  const { buffer } = openBuffer(Array.from({ length: 10 }, () => chunk))
  const sizes: number[] = []
  for (let piece = await buffer.take(); piece; piece = await buffer.take()) sizes.push(piece.length)
  expect(sizes).toEqual([240_000, 240_000, 120_000])
  expect(Math.max(...sizes)).toBeLessThanOrEqual(maxFrameBytes)
})

it('releases the memory of joined chunks', async () => {
  const { buffer } = openBuffer([])
  const chunks = [Buffer.alloc(60_000), Buffer.alloc(60_000)]
  for (const chunk of chunks) buffer.push(chunk)
  expect((await buffer.take())?.length).toBe(120_000)
  expect(chunks.map(({ length }) => length)).toEqual([0, 0])
})

it('grows for a row that exceeds the size of a piece', async () => {
  const chunk = Buffer.alloc(maxFrameBytes, 'x')
  const { buffer } = openBuffer([chunk, chunk, chunk, chunk])
  let piece: Buffer | undefined = Buffer.alloc(0)
  let longest = 0
  for (; piece; piece = await buffer.take(piece)) longest = piece.length
  expect(longest).toBe(4 * maxFrameBytes)
})

it('throws an error after the bytes before it, on every call', async () => {
  const { buffer } = openBuffer([Buffer.from('a')], new Error('cut'))
  expect((await buffer.take())?.toString()).toBe('a')
  await expect(buffer.take()).rejects.toThrow('cut')
  await expect(buffer.take()).rejects.toThrow('cut')
})

it('waits for chunks and reports when it can accept more', async () => {
  const { buffer, rooms } = openBuffer([])
  const taken = buffer.take()
  expect(rooms()).toBe(0)
  buffer.push(Buffer.alloc(maxFrameBytes))
  expect(buffer.isFull()).toBe(true)
  expect((await taken)?.length).toBe(maxFrameBytes)
  expect([buffer.isFull(), rooms()]).toEqual([false, 1])
  const end = buffer.take()
  buffer.end()
  expect(await end).toBeUndefined()
})
