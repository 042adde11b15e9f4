import { describe, expect, it } from 'vitest'
import { type Clock, computeAgeMs, adjustForClockJumps, recordInstant } from './clock.ts'

const hourMs = 3_600_000

/** Returns the clock of a simulated machine. Tests can set its wall clock. */
const machine = () => {
  const time = { elapsedMs: 5_000, aheadMs: Date.UTC(2026, 0, 5) }
  const clock: Clock = { now: () => time.elapsedMs + time.aheadMs, elapsedMs: () => time.elapsedMs }
  return { time, clock }
}

describe('the age of a stored instant', () => {
  it.each([-hourMs, hourMs, -10 * 60_000])('is its true age when the wall clock is set by %d ms', (jumpMs) => {
    const { time, clock } = machine()
    const atMs = recordInstant(clock)
    time.elapsedMs += 20_000
    time.aheadMs += jumpMs
    expect(computeAgeMs(clock, atMs)).toBe(20_000)
    expect(adjustForClockJumps(clock, atMs)).toBe(atMs + jumpMs)
  })

  it('stays true over several jumps, even for an instant that replaces the first', () => {
    const { time, clock } = machine()
    let atMs = recordInstant(clock)
    for (const jumpMs of [hourMs, -2 * hourMs, 30 * 60_000]) {
      time.elapsedMs += 1_000
      time.aheadMs += jumpMs
      atMs = adjustForClockJumps(clock, atMs)
    }
    expect(computeAgeMs(clock, atMs)).toBe(3_000)
  })

  it('uses the wall clock for an instant that an earlier process stored', () => {
    const { clock } = machine()
    expect(computeAgeMs(clock, clock.now() - 7_000)).toBe(7_000)
    expect(computeAgeMs(clock, clock.now() + 7_000)).toBe(-7_000)
  })

  it('is that of the later instant if the clock was set back and the same instant was stored again', () => {
    const { time, clock } = machine()
    const first = recordInstant(clock)
    time.elapsedMs += hourMs
    time.aheadMs -= hourMs
    expect(recordInstant(clock)).toBe(first)
    expect(computeAgeMs(clock, first)).toBe(0)
  })

  it('is not adjusted while the clock is slewed', () => {
    const { time, clock } = machine()
    const atMs = recordInstant(clock)
    time.aheadMs += 900
    expect(adjustForClockJumps(clock, atMs)).toBe(atMs)
  })
})
