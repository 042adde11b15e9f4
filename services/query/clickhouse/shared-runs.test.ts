import { expect, it } from 'vitest'
import { openSharedRuns } from './shared-runs.ts'

const waiting = (signal = new AbortController().signal, limitMs = 10_000) => ({
  signal,
  limitMs,
  late: () => new Error('late'),
})

it('runs equal calls once', async () => {
  const runs = openSharedRuns<number>()
  const { promise, resolve } = Promise.withResolvers<number>()
  let starts = 0
  const start = () => {
    starts++
    return promise
  }
  const callers = Array.from({ length: 10 }, () => runs.join('a', waiting(), start))
  const other = runs.join('b', waiting(), async () => 7)
  resolve(5)
  expect(await Promise.all(callers)).toEqual(Array(10).fill(5))
  expect(await other).toBe(7)
  expect(starts).toBe(1)
  await runs.join('a', waiting(), start)
  expect(starts).toBe(2)
})

it('continues while one caller waits and is aborted when the last one leaves', async () => {
  const runs = openSharedRuns<number>()
  const seen: AbortSignal[] = []
  const start = (signal: AbortSignal) => {
    seen.push(signal)
    return new Promise<number>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const [one, two] = [new AbortController(), new AbortController()]
  const first = runs.join('a', waiting(one.signal), start).catch((error: unknown) => error)
  const second = runs.join('a', waiting(two.signal), start).catch((error: unknown) => error)
  one.abort(new Error('left'))
  expect(await first).toMatchObject({ message: 'left' })
  expect(seen[0]?.aborted).toBe(false)
  two.abort(new Error('left too'))
  expect(await second).toMatchObject({ message: 'left too' })
  expect(seen[0]?.aborted).toBe(true)
})

it('times out for each caller separately', async () => {
  const runs = openSharedRuns<number>()
  const never = () => new Promise<number>(() => undefined)
  await expect(runs.join('a', waiting(undefined, 5), never)).rejects.toThrow('late')
})
