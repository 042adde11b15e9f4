import { describe, expect, it } from 'vitest'
import type { Condition, HostRecord, Episode, EpisodeSilences } from '../conditions/condition.ts'
import { emptyFleetRecord, emptyHostSummary } from '../conditions/fleet-record.ts'
import { getHostRecordKey, HostRecord as HostRecordSchema } from '../conditions/condition.ts'
import { type InboundFixture, claimNotifications, openInboundFixture } from '../testing/inbound.ts'
import { acquireSweepLease } from '../sweep-lease.ts'
import { reconcileStores, reconcileRecord } from './reconcile.ts'
import { createSimulatedHost, createTestRule, sweepOnce } from '../testing/simulated-host.ts'

/** Returns a record with one firing condition. */
const firing = (): { record: HostRecord; condition: Condition } => {
  const story = createSimulatedHost([createTestRule({ id: 'disk' })])
  sweepOnce(story, { disk: 85 })
  const condition = story.record?.conditions.disk
  if (!story.record || !condition) throw new Error('no condition fires')
  return { record: story.record, condition }
}

const episodeOf = (condition: Condition): Episode => ({ hostKey: 'db', condition, endedAtMs: null })
const groupSilences = (...all: readonly EpisodeSilences[]) => new Map(all.map((one) => [one.episode, one]))
const untilRecovery = { untilMs: null }

describe('reconciling a record', () => {
  it('changes nothing if both agree', () => {
    const { record, condition } = firing()
    expect(reconcileRecord(record, [episodeOf(condition)], groupSilences())).toBe(record)
    expect(reconcileRecord(undefined, [], groupSilences())).toBeUndefined()
  })

  it('restores open episodes and their silences to a lost record', () => {
    const { condition } = firing()
    const silences = { episode: condition.episode, acknowledged: untilRecovery, dismissed: null }
    expect(reconcileRecord(undefined, [episodeOf(condition)], groupSilences(silences))).toEqual({
      conditions: { disk: { ...condition, acknowledged: untilRecovery } },
      checks: {},
      counters: {},
      uptimeSeconds: null,
    })
  })

  it('adds silences to a condition and removes expired ones', () => {
    const { record, condition } = firing()
    const silences = { episode: condition.episode, acknowledged: { untilMs: 5 }, dismissed: untilRecovery }
    const after = reconcileRecord(record, [], groupSilences(silences))
    expect(after?.conditions.disk).toMatchObject({ acknowledged: { untilMs: 5 }, dismissed: untilRecovery })
    expect(reconcileRecord(after, [], groupSilences())?.conditions.disk).toMatchObject({
      acknowledged: null,
      dismissed: null,
    })
  })

  it('ignores silences of another episode', () => {
    const { record } = firing()
    const silences = { episode: 'an earlier one', acknowledged: untilRecovery, dismissed: untilRecovery }
    expect(reconcileRecord(record, [], groupSilences(silences))).toBe(record)
  })

  it('does not restore episodes that the store closed', () => {
    const { record, condition } = firing()
    const over = { ...condition, episode: 'an earlier one' }
    expect(reconcileRecord({ ...record, conditions: {} }, [episodeOf(over)], groupSilences())?.conditions).toEqual({})
  })
})

describe('a dispatcher with a state database', () => {
  /** Reconciles the store with the database and returns the notifications. */
  const reconcileIn = async ({ parts, store }: InboundFixture): Promise<string[]> => {
    await using lease = await acquireSweepLease(store, new AbortController().signal)
    if (!lease) throw new Error('expected a free lease')
    await reconcileStores(parts, { ...emptyFleetRecord, hosts: { db: { ...emptyHostSummary, conditions: 1 } } }, lease)
    return (await claimNotifications(store)).map(({ id, kind }) => `${kind} ${id}`)
  }
  const countOpen = async ({ stores }: InboundFixture) =>
    (await stores.episodes.open()).map(({ condition }) => condition.episode)
  const put = ({ store }: InboundFixture, record: HostRecord) =>
    store.update(getHostRecordKey('db'), HostRecordSchema, () => ({ value: record }))

  it('adds missing episodes to the database, whichever process decided them', async () => {
    await using dispatcher = await openInboundFixture()
    const { record, condition } = firing()
    await put(dispatcher, record)
    expect(await reconcileIn(dispatcher)).toEqual([])
    expect(await countOpen(dispatcher)).toEqual([condition.episode])
  })

  it('sends the recovery of a lost episode that started again in the store', async () => {
    await using dispatcher = await openInboundFixture()
    const { record, condition } = firing()
    await dispatcher.stores.episodes.write([episodeOf({ ...condition, episode: 'lost' })], [])
    await put(dispatcher, record)
    dispatcher.isMissed = true
    expect(await reconcileIn(dispatcher)).toEqual(['recover lost:1'])
    dispatcher.isMissed = false
    expect(await countOpen(dispatcher)).toEqual([condition.episode])
    expect(await reconcileIn(dispatcher)).toEqual([])
  })
})
