/** Those of this process who wait for a target. However many they are, few look whether it is free, and there is always one. */
export interface Line {
  /** A place among those who may look and send now, until it is given back; undefined when so many have one. */
  step(key: string, most: number): Disposable | undefined
  /** In how many milliseconds a place may be given back, as far as can be told by how long they are held. */
  placeInMs(key: string, most: number): number
  /** In how many milliseconds whoever has to wait comes back: not before `earliestMs`, and one after the other, as the target takes them. */
  turnInMs(key: string, earliestMs: number, limits: { perSecond: number; concurrency: number }): number
}

interface Standing {
  /** When those who have a place took it, the longest ago first. */
  since: number[]
  /** How long a place was held of late. */
  heldMs: number
  lastTurnMs: number
}

const leastIntervalMs = 1
/** They come twice as often as places are given back: none may stay free, and a send is not as long as the one before. */
const turnsForPlace = 2
/** Share of the newest in how long a place is held. */
const newest = 0.25
const mostTargets = 1_000

/** The line of this process; each process has its own, and what they share is in the store. */
export const openLine = (now: () => number = () => performance.now()): Line => {
  const standings = new Map<string, Standing>()
  const standingOf = (key: string): Standing => {
    const known = standings.get(key)
    if (known) return known
    if (standings.size >= mostTargets) forget(standings, now())
    const standing = { since: [], heldMs: 0, lastTurnMs: Number.NEGATIVE_INFINITY }
    standings.set(key, standing)
    return standing
  }
  return {
    step(key, most) {
      const standing = standingOf(key)
      if (standing.since.length >= most) return undefined
      const sinceMs = now()
      standing.since.push(sinceMs)
      return { [Symbol.dispose]: () => giveBack(standing, sinceMs, now()) }
    },
    placeInMs: (key, most) => placeInMs(standingOf(key), most, now()),
    turnInMs(key, earliestMs, { perSecond, concurrency }) {
      const nowMs = now()
      const standing = standingOf(key)
      const intervalMs = Math.max(1_000 / perSecond, placeInMs(standing, concurrency, nowMs), leastIntervalMs)
      const { lastTurnMs } = standing
      // Once the last has had its turn, nobody stands in line any more.
      const freeMs = lastTurnMs >= nowMs ? lastTurnMs + intervalMs : nowMs
      standing.lastTurnMs = Math.max(freeMs, nowMs + earliestMs)
      return standing.lastTurnMs - nowMs
    },
  }
}

/** One who is at it for longer than the last ones were will hardly be done sooner than in half of that time again. */
const placeInMs = ({ since: [first], heldMs }: Standing, most: number, nowMs: number): number =>
  Math.max(heldMs, nowMs - (first ?? nowMs)) / most / turnsForPlace

const giveBack = (standing: Standing, sinceMs: number, nowMs: number): void => {
  standing.since.splice(standing.since.indexOf(sinceMs), 1)
  standing.heldMs += newest * (nowMs - sinceMs - standing.heldMs)
}

const forget = (standings: Map<string, Standing>, nowMs: number): void => {
  for (const [key, { since, lastTurnMs }] of standings)
    if (since.length === 0 && lastTurnMs < nowMs) standings.delete(key)
}
