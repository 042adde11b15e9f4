import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { call } from '../delivery/testing/place.ts'
import { openInbound } from '../testing/inbound.ts'
import { afterEvent, type Told } from './entry.ts'
import { adoptFormer } from './rebuild.ts'
import {
  openConditions,
  EventList,
  OpenCounts,
  countsKey,
  entryAt,
  firingIn,
  listEntries,
  listKey,
  openIn,
} from './places.ts'
import { EventEntry, entryKey, overflowPlace, placeOf } from './record.ts'

const told: Told = {
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
const open = afterEvent(undefined, told, { nowMs: 1_000, newEpisode: () => 'e' })
const over = afterEvent(undefined, { ...told, status: 'resolved' }, { nowMs: 1_000, newEpisode: () => 'e' })

describe('the places of inbound events', () => {
  let store: Store
  beforeEach(async () => {
    store = await openStore({ env: {}, busIsShared: false })
  })
  afterEach(() => store[Symbol.asyncDispose]())
  const write = async (entries: Readonly<Record<string, EventEntry>>) => {
    for (const [place, entry] of Object.entries(entries))
      await store.update(entryKey(place), EventEntry, () => ({ value: entry }))
    await listEntries(store, new Map(Object.entries(entries)))
  }
  const counts = async () => (await store.get(countsKey, OpenCounts)) ?? {}
  const listed = async (name: string) => (await store.get(listKey(name), EventList))?.open ?? []

  it('are listed and counted while they are open, the overflow apart', async () => {
    await write({ aa1: open, aa2: open, bb1: open, [overflowPlace]: open, cc1: over })
    expect(await counts()).toEqual({ aa: 2, bb: 1, overflow: 1 })
    expect([openIn(await counts()), firingIn(await counts())]).toEqual([3, 4])
    await write({ aa1: over, bb1: over })
    expect([await listed('aa'), await listed('bb'), await counts()]).toEqual([['aa2'], [], { aa: 1, overflow: 1 }])
  })

  it('stay listed when somebody opens them while another writes that they are over', async () => {
    await write({ aa1: over })
    await store.update(entryKey('aa1'), EventEntry, () => ({ value: open }))
    await listEntries(store, new Map([['aa1', over]]))
    expect([await listed('aa'), await counts()]).toEqual([['aa1'], { aa: 1 }])
  })

  it('of what is over are remembered in a bounded number, the newest', async () => {
    const places = Array.from({ length: 130 }, (_, index) => `aa${index}`)
    for (const place of places) await write({ [place]: over })
    const known = await Promise.all(places.map(async (place) => Boolean(await entryAt(store, place))))
    expect([known.indexOf(true), known.filter(Boolean).length]).toEqual([30, 100])
  })

  it('are given to what an earlier release kept, unless they are taken', async () => {
    const newer: EventEntry = { ...open, seenAtMs: 2_000 }
    await write({ aa1: newer })
    const keep = (key: string, value: unknown) => store.update(key, z.unknown(), () => ({ value }))
    await keep('alerts:events', { aa: { open: 2, entries: 3 }, overflow: { open: 1, entries: 1 } })
    await keep('alerts:events:aa', { entries: { aa1: open, aa2: open, aa3: over } })
    await keep('alerts:events:overflow', { entries: { overflow: open } })
    await adoptFormer(store)
    await adoptFormer(store)
    expect(await counts()).toEqual({ aa: 2, overflow: 1 })
    expect(await entryAt(store, 'aa1')).toEqual(newer)
    expect((await openConditions(store, 10)).map(({ place }) => place).toSorted()).toEqual(['aa1', 'aa2', 'overflow'])
    for (const key of ['alerts:events', 'alerts:events:aa', 'alerts:events:overflow'])
      expect(await store.get(key, z.unknown())).toBeUndefined()
  })
})

describe('inbound events that come together', () => {
  it('fail each by itself', async () => {
    await using inbound = await openInbound()
    const place = placeOf({ source: 'prometheus', dedupKey: 'broken' })
    await inbound.store.update(entryKey(place), z.unknown(), () => ({ value: 'not an entry' }))
    const [broken, sound] = await inbound.take({ dedupKey: 'broken' }, { dedupKey: 'sound' })
    expect([broken?.failure, sound?.failure]).toEqual([expect.any(Error), undefined])
    expect(await inbound.handlers.inboundConditions({ limit: 10 }, call)).toMatchObject({ open: 1 })
  })

  it('have room for as many as one after the other', async () => {
    await using inbound = await openInbound(2)
    await inbound.take({ dedupKey: 'a' }, { dedupKey: 'b' }, { dedupKey: 'c' }, { dedupKey: 'a' }, { dedupKey: 'd' })
    const { conditions } = await inbound.handlers.inboundConditions({ limit: 10 }, call)
    expect(conditions.map(({ source }) => source).toSorted()).toEqual(['prometheus', 'prometheus', 'watchhouse'])
  })

  it('about one thing go in their order', async () => {
    await using inbound = await openInbound()
    await inbound.take({}, { severity: 'critical' }, { status: 'resolved' })
    expect(await inbound.tick()).toEqual([
      'fire warning Disk full on prometheus',
      'escalate critical Disk full on prometheus',
      'recover critical Disk full on prometheus',
    ])
  })
})
