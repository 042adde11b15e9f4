import { expect, it } from 'vitest'
import { Credit } from './reply.ts'

const never = new AbortController().signal
const longMs = 60_000

it('allows as many frames as the window, and another for each consumed one', async () => {
  const credit = new Credit(2)
  expect(await credit.take(longMs, never)).toBe(true)
  expect(await credit.take(longMs, never)).toBe(true)
  expect(await credit.take(1, never)).toBe(false)
  credit.grant(1)
  expect(await credit.take(1, never)).toBe(true)
  expect(await credit.take(1, never)).toBe(false)
})

it('wakes a waiting producer when it gets credit', async () => {
  const credit = new Credit(1)
  await credit.take(longMs, never)
  const waiting = credit.take(longMs, never)
  credit.grant(1)
  expect(await waiting).toBe(true)
})

it('stops waiting when the signal aborts, and does not wait afterwards', async () => {
  const stop = new AbortController()
  const credit = new Credit(1)
  await credit.take(longMs, stop.signal)
  const waiting = credit.take(longMs, stop.signal)
  stop.abort()
  expect(await waiting).toBe(false)
  credit.grant(1)
  expect(await credit.take(longMs, stop.signal)).toBe(false)
})

it('ignores a credit that is late, repeated, or for frames that were never sent', async () => {
  const credit = new Credit(1)
  await credit.take(longMs, never)
  for (const consumed of [5, 0, -1]) credit.grant(consumed)
  expect(await credit.take(1, never)).toBe(false)
  credit.grant(1)
  credit.grant(1)
  expect(await credit.take(1, never)).toBe(true)
  expect(await credit.take(1, never)).toBe(false)
})
