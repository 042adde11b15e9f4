import { expect, it } from 'vitest'
import { encodeJson } from '../body.ts'
import { type FrameKind, createFrameHeaders } from '../frame.ts'
import { type BusTestContext, neverStarvedLimits, waitUntil } from './implementations.suite.ts'
import { maxFrameBytes, type BusLimits } from '../limits.ts'
import { createProbeCall, probe } from './probe.suite.ts'
import type { WireMessage } from '../wire.ts'

const collect = async <T>(frames: AsyncIterable<T>, into: T[] = []): Promise<T[]> => {
  for await (const frame of frames) into.push(frame)
  return into
}

/** Declares the tests of streams of a bus. */
export const testStreams = (place: () => BusTestContext): void => {
  const pair = async (limits: Partial<BusLimits> = {}) => {
    const { seen } = await place().serve('q1', { limits: { ...neverStarvedLimits, ...limits } })
    const caller = await place().open('gateway')
    return { seen, client: caller.client(probe) }
  }

  it('returns the head, the frames in order and the tail', async () => {
    const { client } = await pair()
    const stream = await client.count({ to: 1_000 }, createProbeCall())
    expect(stream.head).toEqual({ to: 1_000 })
    expect(() => stream.tail()).toThrow('read all frames first')
    const numbers = (await collect(stream.frames)).map(({ number }) => number)
    expect(numbers).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
    expect(stream.tail()).toEqual({ counted: 1_000 })
  })

  it('returns the head and the tail of an empty stream', async () => {
    const { client } = await pair()
    const stream = await client.count({ to: 0 }, createProbeCall())
    expect(await collect(stream.frames)).toEqual([])
    expect(stream.tail()).toEqual({ counted: 0 })
  })

  it.each([
    ['small pieces', 100, 1_000],
    ['pieces of one frame', 40, maxFrameBytes],
    ['pieces that must be cut', 3, 1_000_000],
  ])('transfers bytes unchanged: %s', async (_name, pieces, size) => {
    const { client } = await pair()
    const stream = await client.blob({ pieces, size }, createProbeCall())
    const frames = await collect(stream.frames)
    expect(Math.max(...frames.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(maxFrameBytes)
    const expected = Buffer.concat(Array.from({ length: pieces }, (_, number) => Buffer.alloc(size, number % 251)))
    expect(Buffer.concat(frames).equals(expected)).toBe(true)
    expect(stream.tail()).toEqual({ pieces })
  })

  it('runs several streams at once', async () => {
    const { client } = await pair()
    const lengths = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { frames } = await client.count({ to: 50 + index }, createProbeCall())
        return (await collect(frames)).length
      }),
    )
    expect(lengths).toEqual(Array.from({ length: 20 }, (_, index) => 50 + index))
  })

  it('stops the producer when the reader leaves the loop', async () => {
    const { client, seen } = await pair()
    const stream = await client.count({ to: 1_000_000 }, createProbeCall())
    for await (const { number } of stream.frames) if (number === 2) break
    await waitUntil(() => seen.returned === 1)
    expect(seen.produced).toBeLessThan(20)
  })

  it('stops a working producer when its caller aborts, and rejects with the reason', async () => {
    const { client, seen } = await pair()
    const leaving = new AbortController()
    const stream = await client.count({ to: 10, pauseAt: 3 }, createProbeCall({ signal: leaving.signal }))
    const reading = collect(stream.frames)
    await waitUntil(() => seen.held === 1)
    leaving.abort(new Error('I left'))
    await expect(reading).rejects.toThrow('I left')
    await waitUntil(() => seen.aborted === 1 && seen.returned === 1)
  })

  it('stops the producer at the deadline', async () => {
    const { client, seen } = await pair()
    const stream = await client.count({ to: 10, pauseAt: 3 }, createProbeCall({ deadline: performance.now() + 200 }))
    await expect(collect(stream.frames)).rejects.toMatchObject({ code: 'timeout' })
    await waitUntil(() => seen.aborted === 1 && seen.returned === 1)
  })

  it('limits how far the producer is ahead by its credit, and loses nothing with a slow reader', async () => {
    const { client, seen } = await pair()
    const { frames } = await client.blob({ pieces: 60, size: maxFrameBytes }, createProbeCall())
    let read = 0
    for await (const frame of frames) {
      read += 1
      expect(frame[0]).toBe((read - 1) % 251)
      // The reader is slow: all credit is used, and one frame waits.
      await waitUntil(() => seen.produced >= Math.min(60, read + 4))
      expect(seen.produced).toBeLessThanOrEqual(read + 5)
    }
    expect(read).toBe(60)
  })

  it('stops a producer whose frames are not read, and reports this when the reader continues', async () => {
    const { client, seen } = await pair({ starvedMs: 300, workingEveryMs: 50 })
    const stream = await client.count({ to: 100 }, createProbeCall())
    await waitUntil(() => seen.returned === 1)
    expect(seen.produced).toBe(5)
    const read: unknown[] = []
    await expect(collect(stream.frames, read)).rejects.toMatchObject({ code: 'timeout' })
    expect(read).toHaveLength(4)
  })

  it('returns the frames before an error, then the error', async () => {
    const { client } = await pair()
    const stream = await client.count({ to: 100, failAt: 7 }, createProbeCall())
    const read: unknown[] = []
    const failure = { code: 'not-found', message: 'unknown number "7"' }
    await expect(collect(stream.frames, read)).rejects.toMatchObject(failure)
    expect(read).toHaveLength(7)
    expect(() => stream.tail()).toThrow('read all frames first')
  })

  it('rejects a JSON frame above the size limit, because JSON frames are not split', async () => {
    const { client } = await pair()
    const stream = await client.count({ to: 1, padding: maxFrameBytes }, createProbeCall())
    await expect(collect(stream.frames)).rejects.toMatchObject({ code: 'too-large' })
  })

  it('reads 64 streams at once and returns busy for more', async () => {
    const { client, seen } = await pair()
    const leaving = new AbortController()
    const call = () => createProbeCall({ signal: leaving.signal })
    const open = await Promise.all(Array.from({ length: 64 }, () => client.count({ to: 1, pauseAt: 0 }, call())))
    await expect(client.count({ to: 1 }, call())).rejects.toMatchObject({ code: 'busy', retryAfterMs: 1_000 })
    leaving.abort()
    await Promise.allSettled(open.map(({ frames }) => collect(frames)))
    await waitUntil(() => seen.returned === 64)
    expect(await collect((await client.count({ to: 1 }, createProbeCall())).frames)).toHaveLength(1)
  })

  it.each([
    ['a frame in the middle', ['head', 'data', undefined, 'data', 'end']],
    ['the last frame', ['head', 'data', undefined, 'end']],
    ['the head', [undefined, 'data', 'end']],
    ['what came before a sign of life', ['head', undefined, 'working']],
  ] as const)('takes the loss of %s for a failure, never for a short answer', async (_name, frames) => {
    await answerWith(frames)
    const client = (await place().open('gateway')).client(probe)
    const reading = client.blob({ pieces: 1, size: 1 }, createProbeCall()).then((stream) => collect(stream.frames))
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' })
  })

  /** Serves these frames. An undefined entry uses a sequence number but is not sent, like a lost frame. */
  const answerWith = async (frames: readonly (FrameKind | undefined)[]): Promise<void> => {
    const wire = await place().network.hub.connect({ caller: 'query', instance: 'raw' })
    place().release(wire)
    wire.subscribe('svc.query.*.*', ({ reply }: WireMessage) => {
      for (const [sequence, kind] of frames.entries()) {
        if (kind && reply) wire.publish(reply, encodeJson({}), { headers: createFrameHeaders(kind, sequence) })
      }
    })
    await wire.flush()
  }
}
