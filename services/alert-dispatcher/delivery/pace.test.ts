import { describe, expect, it } from 'vitest'
import type { SendResult } from '../channels/channel.ts'
import { type Pace, enter, groupIntervalMs, leave, withdraw } from './pace.ts'

const limits = { concurrency: 2, perSecond: 1, burst: 3 }
const holdMs = 30_000
const nowMs = 1_000_000
const at = (pace: Pace | undefined, episode: string, atMs = nowMs) =>
  enter(pace, { episodes: [episode], isUrgent: false, nowMs: atMs, holdMs }, limits)
const left = (pace: Pace | undefined, episode: string, result: SendResult, atMs = nowMs) =>
  leave(pace, { episodes: [episode], nowMs: atMs, result, restMs: (failures) => failures * 2_000 })
const ok: SendResult = { kind: 'ok' }
const failed: SendResult = { kind: 'retry', reason: 'answered 503' }

describe('the pace of a target', () => {
  it('lets a send begin where nothing is known', () => {
    expect(at(undefined, 'a').entry).toEqual({ entered: true, episodes: ['a'] })
  })

  it('lets only one send of an episode be under way', () => {
    const { pace } = at(undefined, 'a')
    expect(at(pace, 'a').entry).toMatchObject({ entered: false, againInMs: 1_000 })
    expect(at(left(pace, 'a', ok), 'a').entry).toMatchObject({ entered: true })
  })

  it('lets a send begin again whose time is over', () => {
    const { pace } = at(undefined, 'a')
    const later = nowMs + holdMs + 1
    expect(at(pace, 'a', later).entry).toEqual({ entered: true, episodes: ['a'] })
    const others = at(pace, 'b', later).pace
    expect(Object.keys(others.holders)).toEqual(['b'])
  })

  it('lets one begin again that was cut off before the clock was set back', () => {
    const { pace } = at(undefined, 'a', nowMs + 3_600_000)
    const seen = at(pace, 'a')
    expect(seen).toMatchObject({ entry: { entered: false }, isChanged: true })
    expect(at(seen.pace, 'a', nowMs + 1).isChanged).toBe(false)
    expect(at(seen.pace, 'a', nowMs + holdMs + 1).entry).toMatchObject({ entered: true })
  })

  it('lets no more be under way than its limit, not counting those cut off', () => {
    const two = at(at(undefined, 'a').pace, 'b').pace
    expect(at(two, 'c').entry).toMatchObject({ entered: false })
    expect(at(withdraw(two, ['a']), 'c').entry).toMatchObject({ entered: true })
    expect(at(two, 'c', nowMs + holdMs + 1).entry).toMatchObject({ entered: true })
  })

  it('lets a burst pass and then its rate', () => {
    let pace: Pace | undefined
    for (const episode of ['a', 'b', 'c']) pace = left(at(pace, episode).pace, episode, ok)
    expect(at(pace, 'd').entry).toMatchObject({ entered: false, againInMs: 1_000 })
    expect(at(pace, 'd', nowMs + 1_000).entry).toMatchObject({ entered: true })
  })

  it('rests after a failure, longer after each, and not after a success', () => {
    const once = left(at(undefined, 'a').pace, 'a', failed)
    expect(at(once, 'b').entry).toEqual({ entered: false, waitsFor: 'rest', againInMs: 2_000 })
    const twice = left(at(once, 'a', nowMs + 2_000).pace, 'a', failed, nowMs + 2_000)
    expect(at(twice, 'b', nowMs + 2_000).entry).toEqual({ entered: false, waitsFor: 'rest', againInMs: 4_000 })
    const well = left(at(twice, 'a', nowMs + 6_000).pace, 'a', ok, nowMs + 6_000)
    expect(well).toMatchObject({ failures: 0, broken: null })
    expect(at(well, 'b', nowMs + 6_000).entry).toMatchObject({ entered: true })
  })

  it('counts sends that fail side by side as one failure', () => {
    const two = at(at(undefined, 'a').pace, 'b').pace
    const both = left(left(two, 'a', failed), 'b', failed, nowMs + 100)
    expect(both.failures).toBe(1)
    expect(at(both, 'c', nowMs + 2_100).entry).toMatchObject({ entered: true })
  })

  it('does not let one message that is refused hold the others back', () => {
    const pace = left(at(undefined, 'a').pace, 'a', { kind: 'permanent', reason: 'answered 400' })
    expect(at(pace, 'b').entry).toMatchObject({ entered: true })
    expect(pace.last).toEqual({ atMs: nowMs, result: 'permanent', reason: 'answered 400' })
  })

  it('is broken from the first refusal of its set-up until it takes something', () => {
    const refused: SendResult = { kind: 'config', reason: 'answered 404' }
    const broken = left(at(undefined, 'a').pace, 'a', refused)
    const still = left(at(broken, 'b', nowMs + 9_000).pace, 'b', refused, nowMs + 9_000)
    expect(still.broken).toEqual({ reason: 'answered 404', sinceMs: nowMs })
    expect(left(still, 'c', ok).broken).toBeNull()
  })
})

describe('a critical notice that waits for a target', () => {
  const spent = ['a', 'b', 'c'].reduce<Pace | undefined>(
    (pace, episode) => left(at(pace, episode).pace, episode, ok),
    undefined,
  )
  const urgently = (pace: Pace | undefined, episode: string, atMs = nowMs) =>
    enter(pace, { episodes: [episode], isUrgent: true, nowMs: atMs, holdMs }, limits)

  it('has the next slot, whichever process looks first', () => {
    const { pace, entry, isChanged } = urgently(spent, 'critical')
    expect({ entry, isChanged }).toEqual({
      entry: { entered: false, waitsFor: 'target', againInMs: 1_000 },
      isChanged: true,
    })
    expect(at(pace, 'warning', nowMs + 1_000).entry).toMatchObject({ entered: false, waitsFor: 'target' })
    const sent = urgently(pace, 'critical', nowMs + 1_001)
    expect(sent.entry).toMatchObject({ entered: true })
    expect(at(sent.pace, 'warning', nowMs + 2_001).entry).toMatchObject({ entered: true })
  })

  it('loses the slot when it does not come for it', () => {
    const { pace } = urgently(spent, 'critical')
    expect(at(pace, 'warning', nowMs + 2_000).entry).toMatchObject({ entered: true })
  })
})

describe('a group', () => {
  const grouped = { concurrency: 10, perSecond: 100, burst: 100, groupAfter: 2 }
  const enterGroup = (
    pace: Pace | undefined,
    episodes: [string, ...string[]],
    { atMs = nowMs, isBacklog = false } = {},
  ) => enter(pace, { episodes, group: { key: 'k', isBacklog }, isUrgent: false, nowMs: atMs, holdMs }, grouped)

  it('begins after so many messages in a row, and is sent at most once in an interval', () => {
    const one = enterGroup(undefined, ['a', 'x', 'y'])
    expect(one.entry).toMatchObject({ episodes: ['a'] })
    const two = enterGroup(one.pace, ['b', 'x', 'y'])
    expect(two.entry).toMatchObject({ episodes: ['b'] })
    const three = enterGroup(two.pace, ['c', 'x', 'y'])
    expect(three.entry).toMatchObject({ episodes: ['c', 'x', 'y'] })
    expect(enterGroup(three.pace, ['d', 'z'], { atMs: nowMs + 1_000 }).entry).toEqual({
      entered: false,
      waitsFor: 'group',
      againInMs: groupIntervalMs - 1_000,
    })
    const next = enterGroup(three.pace, ['d', 'z'], { atMs: nowMs + groupIntervalMs })
    expect(next.entry).toMatchObject({ episodes: ['d', 'z'] })
    const quiet = nowMs + 3 * groupIntervalMs
    expect(enterGroup(next.pace, ['e', 'f'], { atMs: quiet }).entry).toMatchObject({ episodes: ['e'] })
  })

  it('begins at once where there is a backlog', () => {
    expect(enterGroup(undefined, ['a', 'b'], { isBacklog: true }).entry).toMatchObject({ episodes: ['a', 'b'] })
  })

  it('is one send, holds each of its episodes, and leaves out those that are held', () => {
    const held = enterGroup(undefined, ['b']).pace
    const { pace, entry } = enterGroup(held, ['a', 'b', 'c'], { isBacklog: true })
    expect(entry).toMatchObject({ episodes: ['a', 'c'] })
    expect(enterGroup(pace, ['c']).entry).toMatchObject({ entered: false, waitsFor: 'episode' })
    const third = { episodes: ['d'], isUrgent: false, nowMs, holdMs } as const
    expect(enter(pace, third, { ...grouped, concurrency: 3 }).entry).toMatchObject({ entered: true })
    expect(enter(pace, third, { ...grouped, concurrency: 2 }).entry).toMatchObject({ entered: false })
    expect(enterGroup(withdraw(pace, ['a', 'c']), ['c']).entry).toMatchObject({ entered: true })
  })
})
