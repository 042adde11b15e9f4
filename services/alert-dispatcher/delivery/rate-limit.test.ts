import { describe, expect, it } from 'vitest'
import type { SendResult } from '../channels/channel.ts'
import { type TargetRateLimit, reserveSend, groupIntervalMs, releaseSend, removeSends } from './rate-limit.ts'

const limits = { concurrency: 2, perSecond: 1, burst: 3 }
const holdMs = 30_000
const nowMs = 1_000_000
const at = (rateLimit: TargetRateLimit | undefined, episode: string, atMs = nowMs) =>
  reserveSend(rateLimit, { episodes: [episode], isUrgent: false, nowMs: atMs, holdMs }, limits)
const left = (rateLimit: TargetRateLimit | undefined, episode: string, result: SendResult, atMs = nowMs) =>
  releaseSend(rateLimit, { episodes: [episode], nowMs: atMs, result, restMs: (failures) => failures * 2_000 })
const ok: SendResult = { kind: 'ok' }
const failed: SendResult = { kind: 'retry', reason: 'HTTP 503' }

describe('the rate limit of a target', () => {
  it('allows the first send', () => {
    expect(at(undefined, 'a').entry).toEqual({ entered: true, episodes: ['a'] })
  })

  it('allows one send per episode at a time', () => {
    const { rateLimit } = at(undefined, 'a')
    expect(at(rateLimit, 'a').entry).toMatchObject({ entered: false, againInMs: 1_000 })
    expect(at(left(rateLimit, 'a', ok), 'a').entry).toMatchObject({ entered: true })
  })

  it('allows a send again after an interrupted one timed out', () => {
    const { rateLimit } = at(undefined, 'a')
    const later = nowMs + holdMs + 1
    expect(at(rateLimit, 'a', later).entry).toEqual({ entered: true, episodes: ['a'] })
    const others = at(rateLimit, 'b', later).rateLimit
    expect(Object.keys(others.holders)).toEqual(['b'])
  })

  it('allows a send that was interrupted before the clock was set back', () => {
    const { rateLimit } = at(undefined, 'a', nowMs + 3_600_000)
    const seen = at(rateLimit, 'a')
    expect(seen).toMatchObject({ entry: { entered: false }, isChanged: true })
    expect(at(seen.rateLimit, 'a', nowMs + 1).isChanged).toBe(false)
    expect(at(seen.rateLimit, 'a', nowMs + holdMs + 1).entry).toMatchObject({ entered: true })
  })

  it('limits concurrent sends, not counting interrupted ones', () => {
    const two = at(at(undefined, 'a').rateLimit, 'b').rateLimit
    expect(at(two, 'c').entry).toMatchObject({ entered: false })
    expect(at(removeSends(two, ['a']), 'c').entry).toMatchObject({ entered: true })
    expect(at(two, 'c', nowMs + holdMs + 1).entry).toMatchObject({ entered: true })
  })

  it('allows a burst and then its rate', () => {
    let rateLimit: TargetRateLimit | undefined
    for (const episode of ['a', 'b', 'c']) rateLimit = left(at(rateLimit, episode).rateLimit, episode, ok)
    expect(at(rateLimit, 'd').entry).toMatchObject({ entered: false, againInMs: 1_000 })
    expect(at(rateLimit, 'd', nowMs + 1_000).entry).toMatchObject({ entered: true })
  })

  it('pauses after failures with increasing length, and not after a success', () => {
    const once = left(at(undefined, 'a').rateLimit, 'a', failed)
    expect(at(once, 'b').entry).toEqual({ entered: false, waitsFor: 'rest', againInMs: 2_000 })
    const twice = left(at(once, 'a', nowMs + 2_000).rateLimit, 'a', failed, nowMs + 2_000)
    expect(at(twice, 'b', nowMs + 2_000).entry).toEqual({ entered: false, waitsFor: 'rest', againInMs: 4_000 })
    const well = left(at(twice, 'a', nowMs + 6_000).rateLimit, 'a', ok, nowMs + 6_000)
    expect(well).toMatchObject({ failures: 0, broken: null })
    expect(at(well, 'b', nowMs + 6_000).entry).toMatchObject({ entered: true })
  })

  it('counts concurrent failures as one', () => {
    const two = at(at(undefined, 'a').rateLimit, 'b').rateLimit
    const both = left(left(two, 'a', failed), 'b', failed, nowMs + 100)
    expect(both.failures).toBe(1)
    expect(at(both, 'c', nowMs + 2_100).entry).toMatchObject({ entered: true })
  })

  it('does not pause after a rejected message', () => {
    const rateLimit = left(at(undefined, 'a').rateLimit, 'a', { kind: 'permanent', reason: 'HTTP 400' })
    expect(at(rateLimit, 'b').entry).toMatchObject({ entered: true })
    expect(rateLimit.last).toEqual({ atMs: nowMs, result: 'permanent', reason: 'HTTP 400' })
  })

  it('is misconfigured from the first such failure until a send succeeds', () => {
    const refused: SendResult = { kind: 'config', reason: 'HTTP 404' }
    const broken = left(at(undefined, 'a').rateLimit, 'a', refused)
    const still = left(at(broken, 'b', nowMs + 9_000).rateLimit, 'b', refused, nowMs + 9_000)
    expect(still.broken).toEqual({ reason: 'HTTP 404', sinceMs: nowMs })
    expect(left(still, 'c', ok).broken).toBeNull()
  })
})

describe('a critical notification that waits for a target', () => {
  const spent = ['a', 'b', 'c'].reduce<TargetRateLimit | undefined>(
    (rateLimit, episode) => left(at(rateLimit, episode).rateLimit, episode, ok),
    undefined,
  )
  const urgently = (rateLimit: TargetRateLimit | undefined, episode: string, atMs = nowMs) =>
    reserveSend(rateLimit, { episodes: [episode], isUrgent: true, nowMs: atMs, holdMs }, limits)

  it('has the next slot in every process', () => {
    const { rateLimit, entry, isChanged } = urgently(spent, 'critical')
    expect({ entry, isChanged }).toEqual({
      entry: { entered: false, waitsFor: 'target', againInMs: 1_000 },
      isChanged: true,
    })
    expect(at(rateLimit, 'warning', nowMs + 1_000).entry).toMatchObject({ entered: false, waitsFor: 'target' })
    const sent = urgently(rateLimit, 'critical', nowMs + 1_001)
    expect(sent.entry).toMatchObject({ entered: true })
    expect(at(sent.rateLimit, 'warning', nowMs + 2_001).entry).toMatchObject({ entered: true })
  })

  it('loses the slot if it does not use it', () => {
    const { rateLimit } = urgently(spent, 'critical')
    expect(at(rateLimit, 'warning', nowMs + 2_000).entry).toMatchObject({ entered: true })
  })
})

describe('a group', () => {
  const grouped = { concurrency: 10, perSecond: 100, burst: 100, groupAfter: 2 }
  const enterGroup = (
    rateLimit: TargetRateLimit | undefined,
    episodes: [string, ...string[]],
    { atMs = nowMs, isBacklog = false } = {},
  ) =>
    reserveSend(rateLimit, { episodes, group: { key: 'k', isBacklog }, isUrgent: false, nowMs: atMs, holdMs }, grouped)

  it('starts after several messages in a row and is sent at most once per interval', () => {
    const one = enterGroup(undefined, ['a', 'x', 'y'])
    expect(one.entry).toMatchObject({ episodes: ['a'] })
    const two = enterGroup(one.rateLimit, ['b', 'x', 'y'])
    expect(two.entry).toMatchObject({ episodes: ['b'] })
    const three = enterGroup(two.rateLimit, ['c', 'x', 'y'])
    expect(three.entry).toMatchObject({ episodes: ['c', 'x', 'y'] })
    expect(enterGroup(three.rateLimit, ['d', 'z'], { atMs: nowMs + 1_000 }).entry).toEqual({
      entered: false,
      waitsFor: 'group',
      againInMs: groupIntervalMs - 1_000,
    })
    const next = enterGroup(three.rateLimit, ['d', 'z'], { atMs: nowMs + groupIntervalMs })
    expect(next.entry).toMatchObject({ episodes: ['d', 'z'] })
    const quiet = nowMs + 3 * groupIntervalMs
    expect(enterGroup(next.rateLimit, ['e', 'f'], { atMs: quiet }).entry).toMatchObject({ episodes: ['e'] })
  })

  it('starts at once with a backlog', () => {
    expect(enterGroup(undefined, ['a', 'b'], { isBacklog: true }).entry).toMatchObject({ episodes: ['a', 'b'] })
  })

  it('is one send that reserves its episodes and omits reserved ones', () => {
    const held = enterGroup(undefined, ['b']).rateLimit
    const { rateLimit, entry } = enterGroup(held, ['a', 'b', 'c'], { isBacklog: true })
    expect(entry).toMatchObject({ episodes: ['a', 'c'] })
    expect(enterGroup(rateLimit, ['c']).entry).toMatchObject({ entered: false, waitsFor: 'episode' })
    const third = { episodes: ['d'], isUrgent: false, nowMs, holdMs } as const
    expect(reserveSend(rateLimit, third, { ...grouped, concurrency: 3 }).entry).toMatchObject({ entered: true })
    expect(reserveSend(rateLimit, third, { ...grouped, concurrency: 2 }).entry).toMatchObject({ entered: false })
    expect(enterGroup(removeSends(rateLimit, ['a', 'c']), ['c']).entry).toMatchObject({ entered: true })
  })
})
