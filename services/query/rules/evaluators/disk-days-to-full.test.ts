import { describe, expect, it } from 'vitest'
import { secondsPerDay, type DiskSample, predictSecondsToFull } from './disk-days-to-full.ts'

const today = 20_000.5
/** Returns the bytes used on the days before today, oldest first. */
const before = (...used: number[]): DiskSample[] =>
  used.map((each, index) => ({ day: 20_000 - used.length + index, used: each }))
const days = (samples: DiskSample[], used: number, free: number): number | undefined => {
  const seconds = predictSecondsToFull(samples, { day: today, used }, free)
  return seconds === undefined ? undefined : seconds / secondsPerDay
}

describe('the time until a disk is full', () => {
  it('is the free space divided by daily growth', () => {
    expect(days(before(100, 110, 120, 130), 145, 100)).toBeCloseTo(10, 0)
  })

  it('is undefined for too few days', () => {
    expect(days(before(100, 110), 120, 100)).toBeUndefined()
  })

  it('is ten years without growth', () => {
    expect(days(before(100, 100, 100, 100), 100, 50)).toBe(3_650)
    expect(days(before(100, 99, 98, 97), 96, 50)).toBe(3_650)
    expect(days(before(100, 101, 102, 103), 104, 1e12)).toBe(3_650)
  })

  it('is 0 without free space', () => {
    expect(days(before(100, 110, 120, 130), 140, 0)).toBe(0)
  })

  it('ignores samples before the last large deletion', () => {
    expect(days(before(500, 600, 700, 100, 110, 120), 135, 100)).toBeCloseTo(10, 0)
    expect(days(before(500, 600, 700, 800, 100), 110, 100)).toBeUndefined()
  })

  it('looks back two weeks', () => {
    const old = [
      { day: 19_900, used: 1 },
      { day: 19_901, used: 2 },
    ]
    expect(days([...old, ...before(100, 110)], 120, 100)).toBeUndefined()
  })
})
