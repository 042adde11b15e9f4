import { describe, expect, it } from 'vitest'
import type { Condition, HostRecord, Episode, Settled } from '../conditions/condition.ts'
import { reconciled } from './reconcile.ts'
import { newStory, plainRule, sweepOnce } from '../testing/story.ts'

/** A record with one rule that fires, and its condition. */
const firing = (): { record: HostRecord; condition: Condition } => {
  const story = newStory([plainRule({ id: 'disk' })])
  sweepOnce(story, { disk: 85 })
  const condition = story.record?.conditions.disk
  if (!story.record || !condition) throw new Error('nothing fires')
  return { record: story.record, condition }
}

const episodeOf = (condition: Condition): Episode => ({ hostKey: 'db', condition, endedAtMs: null })
const said = (...all: readonly Settled[]) => new Map(all.map((one) => [one.episode, one]))
const untilRecovery = { untilMs: null }

describe('what the store and the state database know', () => {
  it('is left alone where it agrees', () => {
    const { record, condition } = firing()
    expect(reconciled(record, [episodeOf(condition)], said())).toBe(record)
    expect(reconciled(undefined, [], said())).toBeUndefined()
  })

  it('gives a record that was lost its open episodes back, and what was said about them', () => {
    const { condition } = firing()
    const settled = { episode: condition.episode, acknowledged: untilRecovery, dismissed: null }
    expect(reconciled(undefined, [episodeOf(condition)], said(settled))).toEqual({
      conditions: { disk: { ...condition, acknowledged: untilRecovery } },
      checks: {},
      counters: {},
      uptimeSeconds: null,
    })
  })

  it('adds to a condition what was said about its episode, and takes back what no longer holds', () => {
    const { record, condition } = firing()
    const settled = { episode: condition.episode, acknowledged: { untilMs: 5 }, dismissed: untilRecovery }
    const after = reconciled(record, [], said(settled))
    expect(after?.conditions.disk).toMatchObject({ acknowledged: { untilMs: 5 }, dismissed: untilRecovery })
    expect(reconciled(after, [], said())?.conditions.disk).toMatchObject({ acknowledged: null, dismissed: null })
  })

  it('keeps what was said about another episode from this one', () => {
    const { record } = firing()
    const settled = { episode: 'an earlier one', acknowledged: untilRecovery, dismissed: untilRecovery }
    expect(reconciled(record, [], said(settled))).toBe(record)
  })

  it('brings back no episode that the store knows to be over', () => {
    const { record, condition } = firing()
    const over = { ...condition, episode: 'an earlier one' }
    expect(reconciled({ ...record, conditions: {} }, [episodeOf(over)], said())?.conditions).toEqual({})
  })
})
