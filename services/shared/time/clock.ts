import { LRUCache } from 'lru-cache'
import { limitEntries } from '../store/limit-entries.ts'

/**
 * A wall clock and a monotonic clock; tests pass their own. The wall clock may be set forward or back at any time.
 * Every age, interval, timeout and lifetime inside a process therefore uses `elapsedMs`.
 */
export interface Clock {
  /** Returns epoch milliseconds, for instants that are stored, shown or compared across machines. */
  now(): number
  /** Returns monotonic milliseconds since an arbitrary start. Only differences are meaningful and never negative. */
  elapsedMs(): number
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now(), elapsedMs: () => performance.now() }

/** Returns a clock for tests that reads both times from `read`. */
export const createClock = (read: () => number): Clock => ({ now: read, elapsedMs: read })

/** Minimum change of the clock offset that counts as a jump; NTP slewing causes smaller ones. */
const minJumpMs = 1_000
const maxSightings = 10_000

type Sightings = LRUCache<number, number>

/** For each clock and instant: the offset of the wall clock when this process first saw the instant. */
const sightings = new WeakMap<Clock, Sightings>()

/** Returns the age of a stored instant; negative if an earlier process stored it before the clock was set back. */
export const computeAgeMs = (clock: Clock, atMs: number): number => clock.now() - adjustForClockJumps(clock, atMs)

/** Returns the current instant for storage and remembers its clock offset. */
export const recordInstant = (clock: Clock): number => {
  const now = clock.now()
  // After the clock was set back, the same instant may occur again; the offset of the later one applies.
  findSightings(clock).set(now, now - clock.elapsedMs())
  return now
}

/**
 * Returns a stored instant, shifted by the jumps of the wall clock since this process first saw it. `now()` minus the
 * result is its true age. Not for instants that a user chose, such as the end of a maintenance window.
 */
export const adjustForClockJumps = (clock: Clock, atMs: number): number => {
  const known = findSightings(clock)
  const aheadMs = clock.now() - clock.elapsedMs()
  const before = known.get(atMs)
  const isUnmoved = before === undefined || Math.abs(aheadMs - before) < minJumpMs
  const followed = isUnmoved ? atMs : Math.round(atMs + aheadMs - before)
  // Callers may store the result instead of the original instant, so the result is tracked too.
  if (!known.has(followed)) known.set(followed, aheadMs)
  return followed
}

const findSightings = (clock: Clock): Sightings => {
  const known = sightings.get(clock) ?? new LRUCache(limitEntries(maxSightings))
  sightings.set(clock, known)
  return known
}
