import { z } from 'zod'
import { type Clock, adjustForClockJumps } from '#shared/time/clock.ts'
import type { SendResult, TargetLimits } from '../channels/channel.ts'

/** Minimum interval between two messages of a group. */
export const groupIntervalMs = 10_000

const Milliseconds = z.number()

/** State of one target that all dispatchers share: sends in progress, rate limit and failures. */
export const TargetRateLimit = z.object({
  /** Sends in progress by episode, valid until `untilMs`. Episodes in one message share `send`. */
  holders: z.record(z.string().max(160), z.object({ untilMs: Milliseconds, send: z.string().max(160).optional() })),
  /** A critical notification that waits for the next slot; less urgent ones must not take it. */
  urgent: z
    .object({ episode: z.string().max(160), untilMs: Milliseconds })
    .nullable()
    .default(null),
  /** Number of messages in the current series of each group. A series ends after `maxGroupGapMs` without a message. */
  groups: z.record(z.string().max(64), z.object({ messages: z.int().min(0), lastAtMs: Milliseconds })).default({}),
  /** When the whole burst is available again. Until then, the rate limit allows only the rest of the burst. */
  spentUntilMs: Milliseconds,
  /** Number of consecutive failures. */
  failures: z.int().min(0),
  /** No message is sent before this time. */
  restsUntilMs: Milliseconds,
  /** Since when and why the target is misconfigured; null if it works. */
  broken: z.object({ reason: z.string().max(300), sinceMs: Milliseconds }).nullable(),
  last: z.object({ atMs: Milliseconds, result: z.string().max(20), reason: z.string().max(300).nullable() }).nullable(),
})
export type TargetRateLimit = z.infer<typeof TargetRateLimit>

export const getRateLimitKey = (channel: string, target: string): string => `alerts:target:${channel}:${target}`

const unusedRateLimit: TargetRateLimit = {
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
 * Whether a send may start, or what it waits for: the target, its pause after failures, the group or the episode.
 * `episodes` are the episodes in the message.
 */
export type SendPermit =
  | { entered: true; episodes: readonly string[] }
  | { entered: false; waitsFor: 'target' | 'rest' | 'group' | 'episode'; againInMs: number }

interface SendRequest {
  /** Episodes to send. The first is always sent, the others only as part of a group. */
  episodes: readonly [string, ...string[]]
  /** Absent for a single message. `isBacklog` means that sending one by one would take too long. */
  group?: { key: string; isBacklog: boolean } | undefined
  isUrgent: boolean
  nowMs: number
  /** Maximum duration of a send; after that it counts as interrupted. */
  holdMs: number
}

/**
 * Reserves a send, or returns what it waits for. If it must wait, the state changes only for the first urgent
 * notification and after the clock was set back.
 */
export const reserveSend = (
  before: TargetRateLimit | undefined,
  request: SendRequest,
  limits: TargetLimits,
): { rateLimit: TargetRateLimit; entry: SendPermit; isChanged: boolean } => {
  const { episodes, group, isUrgent, nowMs, holdMs } = request
  const rateLimit = clampTimestamps(before ?? unusedRateLimit, nowMs, holdMs, limits)
  const [episode, ...others] = episodes
  const intervalMs = 1_000 / limits.perSecond
  const spentUntilMs = Math.max(rateLimit.spentUntilMs, nowMs) + intervalMs
  const waits = findWait(rateLimit, request, limits, spentUntilMs - limits.burst * intervalMs)
  if (waits) {
    const reserves = waits.waitsFor === 'target' && isUrgent && (rateLimit.urgent?.untilMs ?? 0) <= nowMs
    const urgent = { episode, untilMs: nowMs + waits.againInMs + urgentSlackMs }
    // Without this write, the adjusted timestamps would be in the future again at the next attempt.
    const isChanged = reserves || hasFutureTimestamps(before ?? unusedRateLimit, nowMs, holdMs)
    return {
      rateLimit: reserves ? { ...rateLimit, urgent } : rateLimit,
      entry: { entered: false, ...waits },
      isChanged,
    }
  }
  const messages = group ? countGroupMessages(rateLimit, group.key, nowMs) : 0
  const isGroup = group !== undefined && (group.isBacklog || messages >= (limits.groupAfter ?? Infinity))
  const taken = [episode, ...(isGroup ? others.filter((other) => !isSendInProgress(rateLimit, other, nowMs)) : [])]
  const held = Object.fromEntries(taken.map((each) => [each, { untilMs: nowMs + holdMs, send: episode }]))
  const holders = { ...filterSendsInProgress(rateLimit.holders, nowMs), ...held }
  const groups = group
    ? { ...filterRecentGroups(rateLimit, nowMs), [group.key]: { messages: messages + 1, lastAtMs: nowMs } }
    : rateLimit.groups
  const urgent = rateLimit.urgent?.episode === episode ? null : rateLimit.urgent
  const entry: SendPermit = { entered: true, episodes: taken }
  return { rateLimit: { ...rateLimit, holders, groups, urgent, spentUntilMs }, entry, isChanged: true }
}

type SendWait = Pick<Extract<SendPermit, { entered: false }>, 'waitsFor' | 'againInMs'>

/** Returns what a send waits for; undefined if it may start. */
const findWait = (
  rateLimit: TargetRateLimit,
  { episodes: [episode], group, isUrgent, nowMs }: SendRequest,
  { concurrency, groupAfter = Infinity }: TargetLimits,
  allowedAtMs: number,
): SendWait | undefined => {
  if (rateLimit.restsUntilMs > nowMs) return { waitsFor: 'rest', againInMs: rateLimit.restsUntilMs - nowMs }
  if (isSendInProgress(rateLimit, episode, nowMs)) {
    const leftMs = (rateLimit.holders[episode]?.untilMs ?? nowMs) - nowMs
    return { waitsFor: 'episode', againInMs: Math.min(leftMs, episodeRetryMs) }
  }
  // The first group is sent without a pause, because the message before it named only one condition.
  if (group && countGroupMessages(rateLimit, group.key, nowMs) > groupAfter) {
    const againInMs = (rateLimit.groups[group.key]?.lastAtMs ?? 0) + groupIntervalMs - nowMs
    if (againInMs > 0) return { waitsFor: 'group', againInMs }
  }
  if (!isUrgent && rateLimit.urgent !== null && rateLimit.urgent.untilMs > nowMs)
    return { waitsFor: 'target', againInMs: Math.min(rateLimit.urgent.untilMs - nowMs, busyTargetRetryMs) }
  if (countSendsInProgress(rateLimit, nowMs) >= concurrency) return { waitsFor: 'target', againInMs: busyTargetRetryMs }
  return allowedAtMs > nowMs ? { waitsFor: 'target', againInMs: allowedAtMs - nowMs } : undefined
}

/** Maximum pause that a server may request. */
const maxRestMs = 30 * 60_000

/** Adjusts the timestamps if the system clock was set since, so that pauses keep their length. */
export const adjustRateLimit = (rateLimit: TargetRateLimit, clock: Clock): TargetRateLimit => ({
  ...rateLimit,
  spentUntilMs: adjustForClockJumps(clock, rateLimit.spentUntilMs),
  restsUntilMs: adjustForClockJumps(clock, rateLimit.restsUntilMs),
  holders: Object.fromEntries(
    Object.entries(rateLimit.holders).map(([episode, { untilMs, ...holder }]) => [
      episode,
      { ...holder, untilMs: adjustForClockJumps(clock, untilMs) },
    ]),
  ),
  urgent: rateLimit.urgent && { ...rateLimit.urgent, untilMs: adjustForClockJumps(clock, rateLimit.urgent.untilMs) },
  groups: Object.fromEntries(
    Object.entries(rateLimit.groups).map(([key, { messages, lastAtMs }]) => [
      key,
      { messages, lastAtMs: adjustForClockJumps(clock, lastAtMs) },
    ]),
  ),
})

/** Resets timestamps that are too far in the future, because the clock was set back. */
const clampTimestamps = (
  rateLimit: TargetRateLimit,
  nowMs: number,
  holdMs: number,
  { burst, perSecond }: TargetLimits,
): TargetRateLimit => ({
  ...rateLimit,
  spentUntilMs: rateLimit.spentUntilMs > nowMs + (burst * 1_000) / perSecond ? nowMs : rateLimit.spentUntilMs,
  restsUntilMs: rateLimit.restsUntilMs > nowMs + maxRestMs ? nowMs : rateLimit.restsUntilMs,
  urgent: rateLimit.urgent !== null && rateLimit.urgent.untilMs > nowMs + maxUrgentMs ? null : rateLimit.urgent,
  groups: Object.fromEntries(
    Object.entries(rateLimit.groups).map(([key, { messages, lastAtMs }]) => [
      key,
      { messages, lastAtMs: Math.min(lastAtMs, nowMs) },
    ]),
  ),
  holders: Object.fromEntries(
    Object.entries(rateLimit.holders).map(([episode, { untilMs, ...holder }]) => [
      episode,
      { ...holder, untilMs: Math.min(untilMs, nowMs + holdMs) },
    ]),
  ),
})

const hasFutureTimestamps = ({ holders, groups }: TargetRateLimit, nowMs: number, holdMs: number): boolean =>
  Object.values(holders).some(({ untilMs }) => untilMs > nowMs + holdMs) ||
  Object.values(groups).some(({ lastAtMs }) => lastAtMs > nowMs)

const episodeRetryMs = 1_000
const busyTargetRetryMs = 100
/** How long a reserved slot waits for the urgent notification. */
const urgentSlackMs = 500
/** Maximum duration of a reserved slot: the longest send interval of any channel. */
const maxUrgentMs = 60_000

/** Returns whether a send of the episode is in progress. */
export const isSendInProgress = (rateLimit: TargetRateLimit, episode: string, nowMs: number): boolean =>
  (rateLimit.holders[episode]?.untilMs ?? 0) > nowMs

const countSendsInProgress = ({ holders }: TargetRateLimit, nowMs: number): number =>
  new Set(Object.entries(holders).flatMap(([episode, { untilMs, send = episode }]) => (untilMs > nowMs ? [send] : [])))
    .size

/** A series of messages of a group ends after this time without a message, in milliseconds. */
const maxGroupGapMs = 2 * groupIntervalMs

const countGroupMessages = ({ groups }: TargetRateLimit, key: string, nowMs: number): number => {
  const { messages, lastAtMs } = groups[key] ?? { messages: 0, lastAtMs: 0 }
  return nowMs - lastAtMs < maxGroupGapMs ? messages : 0
}

const filterRecentGroups = ({ groups }: TargetRateLimit, nowMs: number): TargetRateLimit['groups'] =>
  Object.fromEntries(Object.entries(groups).filter(([, { lastAtMs }]) => nowMs - lastAtMs < maxGroupGapMs))

const filterSendsInProgress = (holders: TargetRateLimit['holders'], nowMs: number): TargetRateLimit['holders'] =>
  Object.fromEntries(Object.entries(holders).filter(([, { untilMs }]) => untilMs > nowMs))

/** Returns the rate limit without the sends of these episodes. */
export const removeSends = (rateLimit: TargetRateLimit, episodes: readonly string[]): TargetRateLimit => {
  const ended = new Set(episodes)
  return {
    ...rateLimit,
    holders: Object.fromEntries(Object.entries(rateLimit.holders).filter(([each]) => !ended.has(each))),
  }
}

interface SendEnd {
  episodes: readonly string[]
  nowMs: number
  result: SendResult
  /** Returns the pause of a target after this many consecutive failures. */
  restMs(failures: number): number
}

/** Returns the state after a send. A misconfigured target is still tried occasionally, because it may be fixed. */
export const releaseSend = (
  before: TargetRateLimit | undefined,
  { episodes, nowMs, result, restMs }: SendEnd,
): TargetRateLimit => {
  const rateLimit = removeSends(before ?? unusedRateLimit, episodes)
  const last = toLastResult(result, nowMs)
  if (result.kind === 'ok') return { ...rateLimit, last, failures: 0, restsUntilMs: 0, broken: null }
  // The target rejected this message only.
  if (result.kind === 'permanent') return { ...rateLimit, last, failures: 0, restsUntilMs: 0 }
  // Failed sends that were in progress when the pause started are not counted as further failures.
  const failures = rateLimit.restsUntilMs > nowMs ? rateLimit.failures : rateLimit.failures + 1
  const restsUntilMs = Math.max(rateLimit.restsUntilMs, nowMs + restMs(failures))
  const broken =
    result.kind === 'config' ? (rateLimit.broken ?? { reason: result.reason, sinceMs: nowMs }) : rateLimit.broken
  return { ...rateLimit, last, failures, restsUntilMs, broken }
}

/** Returns the state after a failed test message; it is shown but does not delay alerts. */
export const recordFailedTest = (
  before: TargetRateLimit | undefined,
  result: SendResult,
  nowMs: number,
): TargetRateLimit => ({
  ...(before ?? unusedRateLimit),
  last: toLastResult(result, nowMs),
})

const toLastResult = (result: SendResult, nowMs: number): TargetRateLimit['last'] => ({
  atMs: nowMs,
  result: result.kind,
  reason: result.kind === 'ok' ? (result.remark ?? null) : result.reason,
})
