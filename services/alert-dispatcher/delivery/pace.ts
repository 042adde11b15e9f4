import { z } from 'zod'
import type { SendResult } from '../channels/channel.ts'

/** How much one target is asked to take. */
export interface TargetLimits {
  /** Messages on their way to it at once. */
  concurrency: number
  perSecond: number
  /** Messages that may follow one another without a pause when none came before. */
  burst: number
}

const Milliseconds = z.number()

/** What all dispatchers know of one target, under `paceKey`: who is sending to it, and whether it takes anything. */
export const Pace = z.object({
  /** By episode: the send that is under way, or that was cut off when its time is over. */
  holders: z.record(z.string().max(160), z.object({ untilMs: Milliseconds })),
  /** Until when the messages it was sent use up its rate. */
  spentUntilMs: Milliseconds,
  /** Sends in a row that failed. */
  failures: z.int().min(0),
  /** Before this nothing is sent. */
  restsUntilMs: Milliseconds,
  /** Since when it refuses what it is sent because of how it is set up, and why; null while it does not. */
  broken: z.object({ reason: z.string().max(300), sinceMs: Milliseconds }).nullable(),
  last: z.object({ atMs: Milliseconds, result: z.string().max(20), reason: z.string().max(300).nullable() }).nullable(),
})
export type Pace = z.infer<typeof Pace>

export const paceKey = (channel: string, target: string): string => `alerts:target:${channel}:${target}`

const fresh: Pace = { holders: {}, spentUntilMs: 0, failures: 0, restsUntilMs: 0, broken: null, last: null }

/** Whether a send may begin. `wasCutOff`: an earlier send of the same episode had no end, so the target may know of it. */
export type Entry = { entered: true; wasCutOff: boolean } | { entered: false; againInMs: number }

interface Entering {
  episode: string
  nowMs: number
  /** A send that has not ended by then is taken for cut off. */
  holdMs: number
}

/** The pace with one more send under way, or unchanged when it has to wait. */
export const enter = (
  before: Pace | undefined,
  { episode, nowMs, holdMs }: Entering,
  limits: TargetLimits,
): { pace: Pace; entry: Entry } => {
  const pace = onThisClock(before ?? fresh, nowMs, holdMs, limits)
  const wait = (againInMs: number) => ({ pace, entry: { entered: false as const, againInMs } })
  if (pace.restsUntilMs > nowMs) return wait(pace.restsUntilMs - nowMs)
  const own = pace.holders[episode]
  const live = Object.values(pace.holders).filter(({ untilMs }) => untilMs > nowMs)
  if (own !== undefined && own.untilMs > nowMs) return wait(Math.min(own.untilMs - nowMs, heldAgainMs))
  if (live.length >= limits.concurrency) return wait(busyAgainMs)
  const intervalMs = 1_000 / limits.perSecond
  const spentUntilMs = Math.max(pace.spentUntilMs, nowMs) + intervalMs
  const allowedAtMs = spentUntilMs - limits.burst * intervalMs
  if (allowedAtMs > nowMs) return wait(allowedAtMs - nowMs)
  const holders = { ...recent(pace.holders, nowMs), [episode]: { untilMs: nowMs + holdMs } }
  return { pace: { ...pace, holders, spentUntilMs }, entry: { entered: true, wasCutOff: own !== undefined } }
}

/** As long as a remote may ask for. */
const longestRestMs = 30 * 60_000

/** What lies further ahead than it can is from before the clock was set back. */
const onThisClock = (pace: Pace, nowMs: number, holdMs: number, { burst, perSecond }: TargetLimits): Pace => ({
  ...pace,
  spentUntilMs: pace.spentUntilMs > nowMs + (burst * 1_000) / perSecond ? nowMs : pace.spentUntilMs,
  restsUntilMs: pace.restsUntilMs > nowMs + longestRestMs ? nowMs : pace.restsUntilMs,
  holders: Object.fromEntries(
    Object.entries(pace.holders).map(([episode, { untilMs }]) => [
      episode,
      { untilMs: Math.min(untilMs, nowMs + holdMs) },
    ]),
  ),
})

const heldAgainMs = 1_000
const busyAgainMs = 100
/** A send that was cut off is remembered until its message has surely come back. */
const rememberCutOffMs = 3_600_000

const recent = (holders: Pace['holders'], nowMs: number): Pace['holders'] =>
  Object.fromEntries(Object.entries(holders).filter(([, { untilMs }]) => untilMs > nowMs - rememberCutOffMs))

/** The pace after a send that never began. */
export const withdraw = (pace: Pace, episode: string): Pace => {
  const { [episode]: _own, ...holders } = pace.holders
  return { ...pace, holders }
}

interface Leaving {
  episode: string
  nowMs: number
  result: SendResult
  /** How long a target rests after so many failures in a row. */
  restMs(failures: number): number
}

/** The pace after a send: what it answered is known of it. A broken target is tried now and then, for somebody may mend it. */
export const leave = (before: Pace | undefined, { episode, nowMs, result, restMs }: Leaving): Pace => {
  const pace = withdraw(before ?? fresh, episode)
  const last = lastOf(result, nowMs)
  if (result.kind === 'ok') return { ...pace, last, failures: 0, restsUntilMs: 0, broken: null }
  // It refuses this message and not the next.
  if (result.kind === 'permanent') return { ...pace, last, failures: 0, restsUntilMs: 0 }
  // What was under way already when the target was put to rest says nothing new about it.
  const failures = pace.restsUntilMs > nowMs ? pace.failures : pace.failures + 1
  const restsUntilMs = Math.max(pace.restsUntilMs, nowMs + restMs(failures))
  const broken = result.kind === 'config' ? (pace.broken ?? { reason: result.reason, sinceMs: nowMs }) : pace.broken
  return { ...pace, last, failures, restsUntilMs, broken }
}

/** The pace after a test that failed: that is on record, and decides nothing for alerts. */
export const afterFailedTest = (before: Pace | undefined, result: SendResult, nowMs: number): Pace => ({
  ...(before ?? fresh),
  last: lastOf(result, nowMs),
})

const lastOf = (result: SendResult, nowMs: number): Pace['last'] => ({
  atMs: nowMs,
  result: result.kind,
  reason: result.kind === 'ok' ? (result.remark ?? null) : result.reason,
})
