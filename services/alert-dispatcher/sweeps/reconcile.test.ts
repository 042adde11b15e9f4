import { describe, expect, it } from 'vitest'
import type { Condition, HostRecord, Episode, Settled } from '../conditions/condition.ts'
import { emptyFleet, unsweptHost } from '../conditions/fleet-record.ts'
import { hostRecordKey, HostRecord as HostRecordSchema } from '../conditions/condition.ts'
import { type Inbound, noticesIn, openInbound } from '../testing/inbound.ts'
import { takeTurn } from '../sweep-lease.ts'
import { reconcile, reconciled } from './reconcile.ts'
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

describe('a dispatcher with a state database', () => {
  /** Brings both to one account, and resolves with what is told. */
  const reconcileIn = async ({ parts, store }: Inbound): Promise<string[]> => {
    await using turn = await takeTurn(store, new AbortController().signal)
    if (!turn) throw new Error('nobody else has the turn')
    await reconcile(parts, { ...emptyFleet, hosts: { db: { ...unsweptHost, conditions: 1 } } }, turn)
    return (await noticesIn(store)).map(({ id, kind }) => `${kind} ${id}`)
  }
  const openIn = async ({ stores }: Inbound) => (await stores.episodes.open()).map(({ condition }) => condition.episode)
  const put = ({ store }: Inbound, record: HostRecord) =>
    store.update(hostRecordKey('db'), HostRecordSchema, () => ({ value: record }))

  it('adds to it the episodes of hosts that it could not take, whoever decided them', async () => {
    await using dispatcher = await openInbound()
    const { record, condition } = firing()
    await put(dispatcher, record)
    expect(await reconcileIn(dispatcher)).toEqual([])
    expect(await openIn(dispatcher)).toEqual([condition.episode])
  })

  it('notifies of the end of an episode that began anew in a store that had lost it', async () => {
    await using dispatcher = await openInbound()
    const { record, condition } = firing()
    await dispatcher.stores.episodes.write([episodeOf({ ...condition, episode: 'lost' })], [])
    await put(dispatcher, record)
    dispatcher.isMissed = true
    expect(await reconcileIn(dispatcher)).toEqual(['recover lost:1'])
    dispatcher.isMissed = false
    expect(await openIn(dispatcher)).toEqual([condition.episode])
    expect(await reconcileIn(dispatcher)).toEqual([])
  })
})
