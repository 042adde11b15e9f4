import { z } from 'zod'
import { type Clock, follow } from '#shared/time/clock.ts'
import type { SendResult, TargetLimits } from '../channels/channel.ts'

/** At most one message of a group is sent in this time. */
export const groupIntervalMs = 10_000

const Milliseconds = z.number()

/** What all dispatchers know of one target, under `paceKey`: who is sending to it, and whether it takes anything. */
export const Pace = z.object({
  /** By episode: the send that is under way until its time is over. The episodes of one message share `send`. */
  holders: z.record(z.string().max(160), z.object({ untilMs: Milliseconds, send: z.string().max(160).optional() })),
  /** A critical notice waits for the next slot in some process: less urgent ones leave that slot to it. */
  urgent: z
    .object({ episode: z.string().max(160), untilMs: Milliseconds })
    .nullable()
    .default(null),
  /** By group: messages that followed one another without a pause of `groupIntervalMs`. */
  groups: z.record(z.string().max(64), z.object({ messages: z.int().min(0), lastAtMs: Milliseconds })).default({}),
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

const fresh: Pace = {
  holders: {},
  urgent: null,
  groups: {},
  spentUntilMs: 0,
  failures: 0,
  restsUntilMs: 0,
  broken: null,
  last: null,
}

/**
 * Whether a send may begin, else what it waits for: the whole target, its rest after failures, this group, or this episode.
 * `episodes` are those that the message is about.
 */
export type Entry =
  | { entered: true; episodes: readonly string[] }
  | { entered: false; waitsFor: 'target' | 'rest' | 'group' | 'episode'; againInMs: number }

interface Entering {
  /** The first is sent in any case, the others only where the message is a group. */
  episodes: readonly [string, ...string[]]
  /** Absent where the message stands alone. `isBacklog`: what waits would take too long one by one. */
  group?: { key: string; isBacklog: boolean } | undefined
  isUrgent: boolean
  nowMs: number
  /** A send that has not ended by then is taken for cut off. */
  holdMs: number
}

/** The pace with one more send under way. Of those that have to wait only the first urgent one changes it, and the first after the clock was set back. */
export const enter = (
  before: Pace | undefined,
  entering: Entering,
  limits: TargetLimits,
): { pace: Pace; entry: Entry; isChanged: boolean } => {
  const { episodes, group, isUrgent, nowMs, holdMs } = entering
  const pace = onThisClock(before ?? fresh, nowMs, holdMs, limits)
  const [episode, ...others] = episodes
  const intervalMs = 1_000 / limits.perSecond
  const spentUntilMs = Math.max(pace.spentUntilMs, nowMs) + intervalMs
  const waits = waitOf(pace, entering, limits, spentUntilMs - limits.burst * intervalMs)
  if (waits) {
    const reserves = waits.waitsFor === 'target' && isUrgent && (pace.urgent?.untilMs ?? 0) <= nowMs
    const urgent = { episode, untilMs: nowMs + waits.againInMs + urgentSlackMs }
    // Unwritten, what was moved to this clock would be as far ahead each time.
    const isChanged = reserves || isAhead(before ?? fresh, nowMs, holdMs)
    return { pace: reserves ? { ...pace, urgent } : pace, entry: { entered: false, ...waits }, isChanged }
  }
  const messages = group ? messagesOf(pace, group.key, nowMs) : 0
  const isGroup = group !== undefined && (group.isBacklog || messages >= (limits.groupAfter ?? Infinity))
  const taken = [episode, ...(isGroup ? others.filter((other) => !isHeld(pace, other, nowMs)) : [])]
  const held = Object.fromEntries(taken.map((each) => [each, { untilMs: nowMs + holdMs, send: episode }]))
  const holders = { ...underWay(pace.holders, nowMs), ...held }
  const groups = group
    ? { ...recentGroups(pace, nowMs), [group.key]: { messages: messages + 1, lastAtMs: nowMs } }
    : pace.groups
  const urgent = pace.urgent?.episode === episode ? null : pace.urgent
  const entry: Entry = { entered: true, episodes: taken }
  return { pace: { ...pace, holders, groups, urgent, spentUntilMs }, entry, isChanged: true }
}

type Waits = Pick<Extract<Entry, { entered: false }>, 'waitsFor' | 'againInMs'>

/** What a send has to wait for; undefined while it need not. */
const waitOf = (
  pace: Pace,
  { episodes: [episode], group, isUrgent, nowMs }: Entering,
  { concurrency, groupAfter = Infinity }: TargetLimits,
  allowedAtMs: number,
): Waits | undefined => {
  if (pace.restsUntilMs > nowMs) return { waitsFor: 'rest', againInMs: pace.restsUntilMs - nowMs }
  if (isHeld(pace, episode, nowMs)) {
    const leftMs = (pace.holders[episode]?.untilMs ?? nowMs) - nowMs
    return { waitsFor: 'episode', againInMs: Math.min(leftMs, heldAgainMs) }
  }
  // The first group follows at once: what it names is not known yet.
  if (group && messagesOf(pace, group.key, nowMs) > groupAfter) {
    const againInMs = (pace.groups[group.key]?.lastAtMs ?? 0) + groupIntervalMs - nowMs
    if (againInMs > 0) return { waitsFor: 'group', againInMs }
  }
  if (!isUrgent && pace.urgent !== null && pace.urgent.untilMs > nowMs)
    return { waitsFor: 'target', againInMs: Math.min(pace.urgent.untilMs - nowMs, busyAgainMs) }
  if (sendsUnderWay(pace, nowMs) >= concurrency) return { waitsFor: 'target', againInMs: busyAgainMs }
  return allowedAtMs > nowMs ? { waitsFor: 'target', againInMs: allowedAtMs - nowMs } : undefined
}

/** As long as a remote may ask for. */
const longestRestMs = 30 * 60_000

/** The pace with waits that stay as long as they are when the clock is set. Written waits are followed from here on. */
export const followedPace = (pace: Pace, clock: Clock): Pace => ({
  ...pace,
  spentUntilMs: follow(clock, pace.spentUntilMs),
  restsUntilMs: follow(clock, pace.restsUntilMs),
  holders: Object.fromEntries(
    Object.entries(pace.holders).map(([episode, { untilMs, ...holder }]) => [
      episode,
      { ...holder, untilMs: follow(clock, untilMs) },
    ]),
  ),
  urgent: pace.urgent && { ...pace.urgent, untilMs: follow(clock, pace.urgent.untilMs) },
  groups: Object.fromEntries(
    Object.entries(pace.groups).map(([key, { messages, lastAtMs }]) => [
      key,
      { messages, lastAtMs: follow(clock, lastAtMs) },
    ]),
  ),
})

/** What lies further ahead than it can is from before the clock was set back. */
const onThisClock = (pace: Pace, nowMs: number, holdMs: number, { burst, perSecond }: TargetLimits): Pace => ({
  ...pace,
  spentUntilMs: pace.spentUntilMs > nowMs + (burst * 1_000) / perSecond ? nowMs : pace.spentUntilMs,
  restsUntilMs: pace.restsUntilMs > nowMs + longestRestMs ? nowMs : pace.restsUntilMs,
  urgent: pace.urgent !== null && pace.urgent.untilMs > nowMs + longestUrgentMs ? null : pace.urgent,
  groups: Object.fromEntries(
    Object.entries(pace.groups).map(([key, { messages, lastAtMs }]) => [
      key,
      { messages, lastAtMs: Math.min(lastAtMs, nowMs) },
    ]),
  ),
  holders: Object.fromEntries(
    Object.entries(pace.holders).map(([episode, { untilMs, ...holder }]) => [
      episode,
      { ...holder, untilMs: Math.min(untilMs, nowMs + holdMs) },
    ]),
  ),
})

const isAhead = ({ holders, groups }: Pace, nowMs: number, holdMs: number): boolean =>
  Object.values(holders).some(({ untilMs }) => untilMs > nowMs + holdMs) ||
  Object.values(groups).some(({ lastAtMs }) => lastAtMs > nowMs)

const heldAgainMs = 1_000
const busyAgainMs = 100
/** How long after its slot an urgent notice may come for it. */
const urgentSlackMs = 500
/** No target is slower than this. */
const longestUrgentMs = 60_000

/** Whether a send of the episode is under way. */
export const isHeld = (pace: Pace, episode: string, nowMs: number): boolean =>
  (pace.holders[episode]?.untilMs ?? 0) > nowMs

const sendsUnderWay = ({ holders }: Pace, nowMs: number): number =>
  new Set(Object.entries(holders).flatMap(([episode, { untilMs, send = episode }]) => (untilMs > nowMs ? [send] : [])))
    .size

/** A series ends when no message of the group followed within twice the interval: one follows right after the interval. */
const seriesMs = 2 * groupIntervalMs

const messagesOf = ({ groups }: Pace, key: string, nowMs: number): number => {
  const { messages, lastAtMs } = groups[key] ?? { messages: 0, lastAtMs: 0 }
  return nowMs - lastAtMs < seriesMs ? messages : 0
}

const recentGroups = ({ groups }: Pace, nowMs: number): Pace['groups'] =>
  Object.fromEntries(Object.entries(groups).filter(([, { lastAtMs }]) => nowMs - lastAtMs < seriesMs))

const underWay = (holders: Pace['holders'], nowMs: number): Pace['holders'] =>
  Object.fromEntries(Object.entries(holders).filter(([, { untilMs }]) => untilMs > nowMs))

/** The pace without sends of these episodes. */
export const withdraw = (pace: Pace, episodes: readonly string[]): Pace => {
  const ended = new Set(episodes)
  return { ...pace, holders: Object.fromEntries(Object.entries(pace.holders).filter(([each]) => !ended.has(each))) }
}

interface Leaving {
  episodes: readonly string[]
  nowMs: number
  result: SendResult
  /** How long a target rests after so many failures in a row. */
  restMs(failures: number): number
}

/** The pace after a send: what it answered is known of it. A broken target is tried now and then, for somebody may mend it. */
export const leave = (before: Pace | undefined, { episodes, nowMs, result, restMs }: Leaving): Pace => {
  const pace = withdraw(before ?? fresh, episodes)
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
