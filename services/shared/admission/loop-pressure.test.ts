import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openLoopPressure } from './loop-pressure.ts'

/** Keeps the event loop busy for `lengthMs` with tasks of 40 ms each. */
const work = async (lengthMs: number): Promise<void> => {
  const end = performance.now() + lengthMs
  while (performance.now() < end) {
    const pieceEnd = performance.now() + 40
    while (performance.now() < pieceEnd);
    await nextTurn()
  }
}

it('is overloaded after a second of continuous work, not after less, until the loop is idle again', async () => {
  using pressure = openLoopPressure()
  await work(500)
  expect(pressure.isOverloaded).toBe(false)
  await work(2_000)
  expect(pressure.isOverloaded).toBe(true)
  let quiet = 0
  pressure.onMeasured(({ isPressed }) => (quiet = isPressed ? 0 : quiet + 1))
  await pressure.relieved(60_000)
  expect(pressure.isOverloaded).toBe(false)
  // A single measurement without pressure does not end the overload.
  expect(quiet).toBeGreaterThanOrEqual(2)
})

it('delays background work until the loop recovers, for at most the allowed time', async () => {
  using pressure = openLoopPressure()
  await work(2_500)
  let isRelieved = false
  const waiting = pressure.relieved(50).then(() => (isRelieved = true))
  expect(isRelieved).toBe(false)
  await work(150)
  await waiting
  expect(pressure.isOverloaded).toBe(true)
})
