import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startIdlePoolCleanup } from './housekeeping.ts'
import { readHostClientLimits } from './limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns the times of the idle checks within two minutes and the idle timeout of each, in milliseconds. */
const sweeps = (env: Record<string, string>): number[][] => {
  const found: number[][] = []
  const began = Date.now()
  const closeIdle = (idleMs: number) => void found.push([Date.now() - began, idleMs])
  using _ = startIdlePoolCleanup({ closeIdle }, () => readHostClientLimits(env))
  vi.advanceTimersByTime(120_000)
  return found
}

it('closes pools idle for COLUMNDB_POOL_TIMEOUT every COLUMNDB_POOL_CLEANUP_INTERVAL', () => {
  expect(sweeps({})).toEqual([60_000, 120_000].map((atMs) => [atMs, 300_000]))
  const env = { COLUMNDB_POOL_CLEANUP_INTERVAL: '50000', COLUMNDB_POOL_TIMEOUT: '70000' }
  expect(sweeps(env)).toEqual([50_000, 100_000].map((atMs) => [atMs, 70_000]))
})
