import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sweepIdlePools } from './housekeeping.ts'
import { readLimits } from './limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** When idle pools were looked for within two minutes, in milliseconds, and after which time each counted as idle. */
const sweeps = (env: Record<string, string>): number[][] => {
  const found: number[][] = []
  const began = Date.now()
  const closeIdle = (idleMs: number) => void found.push([Date.now() - began, idleMs])
  using _ = sweepIdlePools({ closeIdle }, () => readLimits(env))
  vi.advanceTimersByTime(120_000)
  return found
}

it('looks for idle pools every COLUMNDB_POOL_CLEANUP_INTERVAL, and closes what was unused for COLUMNDB_POOL_TIMEOUT', () => {
  expect(sweeps({})).toEqual([60_000, 120_000].map((atMs) => [atMs, 300_000]))
  const env = { COLUMNDB_POOL_CLEANUP_INTERVAL: '50000', COLUMNDB_POOL_TIMEOUT: '70000' }
  expect(sweeps(env)).toEqual([50_000, 100_000].map((atMs) => [atMs, 70_000]))
})
