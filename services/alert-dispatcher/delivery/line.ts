/** Those of this process who wait for a target. However many they are, few look whether it is free, and there is always one. */
export interface Line {
  /** A place among those who may look and send now, until it is given back; undefined when so many have one. */
  step(key: string, most: number): Disposable | undefined
  /** In how many milliseconds whoever has to wait comes back: not before `earliestMs`, and one after the other. */
  turnInMs(key: string, earliestMs: number, perSecond: number): number
}

/** A target that takes more than this takes what comes at once. */
const leastIntervalMs = 20
const mostTargets = 1_000

/** The line of this process; each process has its own, and what they share is in the store. */
export const openLine = (now: () => number = () => performance.now()): Line => {
  const lastTurns = new Map<string, number>()
  const places = new Map<string, number>()
  return {
    step(key, most) {
      const taken = places.get(key) ?? 0
      if (taken >= most) return undefined
      places.set(key, taken + 1)
      return { [Symbol.dispose]: () => giveBack(places, key) }
    },
    turnInMs(key, earliestMs, perSecond) {
      const nowMs = now()
      const lastMs = lastTurns.get(key) ?? Number.NEGATIVE_INFINITY
      const intervalMs = Math.max(1_000 / perSecond, leastIntervalMs)
      // Once the last has had its turn, nobody stands in line any more.
      const freeMs = lastMs >= nowMs ? lastMs + intervalMs : nowMs
      const atMs = Math.max(freeMs, nowMs + earliestMs)
      if (lastTurns.size > mostTargets) forget(lastTurns, nowMs)
      lastTurns.set(key, atMs)
      return atMs - nowMs
    },
  }
}

const giveBack = (places: Map<string, number>, key: string): void => {
  const left = (places.get(key) ?? 1) - 1
  if (left > 0) places.set(key, left)
  else places.delete(key)
}

const forget = (lastTurns: Map<string, number>, nowMs: number): void => {
  for (const [key, atMs] of lastTurns) if (atMs < nowMs) lastTurns.delete(key)
}
