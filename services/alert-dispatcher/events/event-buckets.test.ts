import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { testServiceCall } from '../delivery/testing/fixture.ts'
import { openInboundFixture } from '../testing/inbound.ts'
import { applyEvent, type EventFacts } from './apply-event.ts'
import { migrateOldEntries } from './restore.ts'
import {
  listOpenConditions,
  EventBucket,
  OpenCounts,
  openCountsKey,
  readEntry,
  countOpenEntriesWithOverflow,
  updateEventBuckets,
  getEventBucketKey,
  countOpenEntries,
} from './event-buckets.ts'
import { EventEntry, getEventEntryKey, overflowEntryId, deriveEntryId } from './event-entry.ts'

const facts: EventFacts = {
  source: 'nagios',
  sourceType: 'generic',
  status: 'firing',
  severity: 'warning',
  title: 'Disk full',
  resource: '',
  body: '',
  url: null,
  labels: {},
  occurredAt: 1_000,
  endsAt: null,
}
const open = applyEvent(undefined, facts, { nowMs: 1_000, newEpisode: () => 'e' })
const over = applyEvent(undefined, { ...facts, status: 'resolved' }, { nowMs: 1_000, newEpisode: () => 'e' })

describe('places of inbound events', () => {
  let store: Store
  beforeEach(async () => {
    store = await openStore({ env: {}, busIsShared: false })
  })
  afterEach(() => store[Symbol.asyncDispose]())
  const write = async (entries: Readonly<Record<string, EventEntry>>) => {
    for (const [place, entry] of Object.entries(entries))
      await store.update(getEventEntryKey(place), EventEntry, () => ({ value: entry }))
    await updateEventBuckets(store, new Map(Object.entries(entries)))
  }
  const counts = async () => (await store.get(openCountsKey, OpenCounts)) ?? {}
  const listed = async (name: string) => (await store.get(getEventBucketKey(name), EventBucket))?.open ?? []

  it('are listed and counted while open, without the overflow', async () => {
    await write({ aa1: open, aa2: open, bb1: open, [overflowEntryId]: open, cc1: over })
    expect(await counts()).toEqual({ aa: 2, bb: 1, overflow: 1 })
    expect([countOpenEntries(await counts()), countOpenEntriesWithOverflow(await counts())]).toEqual([3, 4])
    await write({ aa1: over, bb1: over })
    expect([await listed('aa'), await listed('bb'), await counts()]).toEqual([['aa2'], [], { aa: 1, overflow: 1 }])
  })

  it('stay listed if they are reopened while being closed', async () => {
    await write({ aa1: over })
    await store.update(getEventEntryKey('aa1'), EventEntry, () => ({ value: open }))
    await updateEventBuckets(store, new Map([['aa1', over]]))
    expect([await listed('aa'), await counts()]).toEqual([['aa1'], { aa: 1 }])
  })

  it('remember a limited number of closed entries, the newest', async () => {
    const places = Array.from({ length: 130 }, (_, index) => `aa${index}`)
    for (const place of places) await write({ [place]: over })
    const known = await Promise.all(places.map(async (place) => Boolean(await readEntry(store, place))))
    expect([known.indexOf(true), known.filter(Boolean).length]).toEqual([30, 100])
  })

  it('are assigned to entries of release 0.1.0, unless they are in use', async () => {
    const newer: EventEntry = { ...open, seenAtMs: 2_000 }
    await write({ aa1: newer })
    const keep = (key: string, value: unknown) => store.update(key, z.unknown(), () => ({ value }))
    await keep('alerts:events', { aa: { open: 2, entries: 3 }, overflow: { open: 1, entries: 1 } })
    await keep('alerts:events:aa', { entries: { aa1: open, aa2: open, aa3: over } })
    await keep('alerts:events:overflow', { entries: { overflow: open } })
    await migrateOldEntries(store)
    await migrateOldEntries(store)
    expect(await counts()).toEqual({ aa: 2, overflow: 1 })
    expect(await readEntry(store, 'aa1')).toEqual(newer)
    expect((await listOpenConditions(store, 10)).map(({ place }) => place).toSorted()).toEqual([
      'aa1',
      'aa2',
      'overflow',
    ])
    for (const key of ['alerts:events', 'alerts:events:aa', 'alerts:events:overflow'])
      expect(await store.get(key, z.unknown())).toBeUndefined()
  })
})

describe('inbound events in one batch', () => {
  it('fail individually', async () => {
    await using inbound = await openInboundFixture()
    const place = deriveEntryId({ source: 'prometheus', dedupKey: 'broken' })
    await inbound.store.update(getEventEntryKey(place), z.unknown(), () => ({ value: 'not an entry' }))
    const [broken, sound] = await inbound.take({ dedupKey: 'broken' }, { dedupKey: 'sound' })
    expect([broken?.failure, sound?.failure]).toEqual([expect.any(Error), undefined])
    expect(await inbound.handlers.inboundConditions({ limit: 10 }, testServiceCall)).toMatchObject({ open: 1 })
  })

  it('share the limit of open conditions', async () => {
    await using inbound = await openInboundFixture(2)
    await inbound.take({ dedupKey: 'a' }, { dedupKey: 'b' }, { dedupKey: 'c' }, { dedupKey: 'a' }, { dedupKey: 'd' })
    const { conditions } = await inbound.handlers.inboundConditions({ limit: 10 }, testServiceCall)
    expect(conditions.map(({ source }) => source).toSorted()).toEqual(['prometheus', 'prometheus', 'watchhouse'])
  })

  it('with the same key are processed in order', async () => {
    await using inbound = await openInboundFixture()
    await inbound.take({}, { severity: 'critical' }, { status: 'resolved' })
    expect(await inbound.tick()).toEqual([
      'fire warning Disk full on prometheus',
      'escalate critical Disk full on prometheus',
      'recover critical Disk full on prometheus',
    ])
  })
})
