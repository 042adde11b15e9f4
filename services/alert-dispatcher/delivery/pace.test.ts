import { describe, expect, it } from 'vitest'
import type { SendResult } from '../channels/channel.ts'
import { type Pace, enter, leave, withdraw } from './pace.ts'

const limits = { concurrency: 2, perSecond: 1, burst: 3 }
const holdMs = 30_000
const nowMs = 1_000_000
const at = (pace: Pace | undefined, episode: string, atMs = nowMs) =>
  enter(pace, { episode, nowMs: atMs, holdMs }, limits)
const left = (pace: Pace | undefined, episode: string, result: SendResult, atMs = nowMs) =>
  leave(pace, { episode, nowMs: atMs, result, restMs: (failures) => failures * 2_000 })
const ok: SendResult = { kind: 'ok' }
const failed: SendResult = { kind: 'retry', reason: 'answered 503' }

describe('the pace of a target', () => {
  it('lets a send begin where nothing is known', () => {
    expect(at(undefined, 'a').entry).toEqual({ entered: true, wasCutOff: false })
  })

  it('lets only one send of an episode be under way', () => {
    const { pace } = at(undefined, 'a')
    expect(at(pace, 'a').entry).toEqual({ entered: false, againInMs: 1_000 })
    expect(at(left(pace, 'a', ok), 'a').entry).toMatchObject({ entered: true })
  })

  it('knows that a send which had no end was cut off', () => {
    const { pace } = at(undefined, 'a')
    const later = nowMs + holdMs + 1
    expect(at(pace, 'a', later).entry).toEqual({ entered: true, wasCutOff: true })
    const others = at(pace, 'b', later).pace
    expect(at(others, 'a', later).entry).toEqual({ entered: true, wasCutOff: true })
  })

  it('lets no more be under way than its limit, not counting those cut off', () => {
    const two = at(at(undefined, 'a').pace, 'b').pace
    expect(at(two, 'c').entry).toMatchObject({ entered: false })
    expect(at(withdraw(two, 'a'), 'c').entry).toMatchObject({ entered: true })
    expect(at(two, 'c', nowMs + holdMs + 1).entry).toMatchObject({ entered: true })
  })

  it('lets a burst pass and then its rate', () => {
    let pace: Pace | undefined
    for (const episode of ['a', 'b', 'c']) pace = left(at(pace, episode).pace, episode, ok)
    expect(at(pace, 'd').entry).toEqual({ entered: false, againInMs: 1_000 })
    expect(at(pace, 'd', nowMs + 1_000).entry).toMatchObject({ entered: true })
  })

  it('rests after a failure, longer after each, and not after a success', () => {
    const once = left(at(undefined, 'a').pace, 'a', failed)
    expect(at(once, 'b').entry).toEqual({ entered: false, againInMs: 2_000 })
    const twice = left(at(once, 'a', nowMs + 2_000).pace, 'a', failed, nowMs + 2_000)
    expect(at(twice, 'b', nowMs + 2_000).entry).toEqual({ entered: false, againInMs: 4_000 })
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
