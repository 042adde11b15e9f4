import { LRUCache } from 'lru-cache'

/**
 * The two readings of time; tests pass their own. An operator or a time service may set the wall clock forwards or back at
 * any moment, so every age, interval, timeout and lifetime inside a process is measured with `elapsedMs`.
 */
export interface Clock {
  /** Epoch milliseconds: an instant to store, to show or to compare with another machine's. */
  now(): number
  /** Milliseconds since an arbitrary start of this process. Only differences mean anything, and they are never negative. */
  elapsedMs(): number
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now(), elapsedMs: () => performance.now() }

/** A clock both of whose readings come from `read`, for decisions that a test steps through. */
export const clockOf = (read: () => number): Clock => ({ now: read, elapsedMs: read })

/** Time services slew a clock by this much without setting it; less is no jump. */
const slewMs = 1_000
const maxSightings = 10_000

type Sightings = LRUCache<number, number>

/** By clock and instant: how far the wall clock was ahead of the monotonic one when this process first saw the instant. */
const sightings = new WeakMap<Clock, Sightings>()

/** How long ago a stored instant was; negative for one that an earlier process stored before the clock was set back. */
export const ageMs = (clock: Clock, atMs: number): number => clock.now() - follow(clock, atMs)

/** The present as an instant to store, whose age is known from now on. */
export const instant = (clock: Clock): number => {
  const now = clock.now()
  // After the clock was set back, the same instant comes again; then this one is meant, and no longer the one before.
  sightingsOf(clock).set(now, now - clock.elapsedMs())
  return now
}

/**
 * Returns a stored instant moved by as much as the wall clock was set since this process first saw it, so that its distance from
 * `now()` is its true age. Not for instants that a person chose, such as the end of a maintenance window: those mean the wall clock.
 */
export const follow = (clock: Clock, atMs: number): number => {
  const known = sightingsOf(clock)
  const aheadMs = clock.now() - clock.elapsedMs()
  const before = known.get(atMs)
  const isUnmoved = before === undefined || Math.abs(aheadMs - before) < slewMs
  const followed = isUnmoved ? atMs : Math.round(atMs + aheadMs - before)
  // What is stored instead of the old instant must be followed over the next jump too.
  if (!known.has(followed)) known.set(followed, aheadMs)
  return followed
}

const sightingsOf = (clock: Clock): Sightings => {
  const known = sightings.get(clock) ?? new LRUCache({ max: maxSightings })
  sightings.set(clock, known)
  return known
}
