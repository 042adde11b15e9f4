import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openStore } from '#shared/store/open.ts'
import { testServiceCall } from '../delivery/testing/fixture.ts'
import { type InboundFixture, openInboundFixture } from '../testing/inbound.ts'
import { RestoreMarker, restoreMarkerKey, restoreInboundConditions } from './restore.ts'
import { maxOpenConditions } from './event-entry.ts'

const hourMs = 60 * 60_000
const minuteMs = 60_000

const listed = async ({ handlers }: InboundFixture) =>
  (await handlers.inboundConditions({ limit: 10 }, testServiceCall)).conditions
const episodeOf = async (inbound: InboundFixture): Promise<string> => {
  const [condition] = await listed(inbound)
  if (!condition) throw new Error('nothing is open')
  return condition.episode
}

describe('an inbound condition', () => {
  it('is returned with its source while it is open', async () => {
    await using inbound = await openInboundFixture()
    expect(await inbound.handlers.inboundConditions({ limit: 10 }, testServiceCall)).toEqual({
      conditions: [],
      open: 0,
    })
    await inbound.process({}, { dedupKey: 'other', severity: 'critical', title: 'Down' })
    expect(await listed(inbound)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ source: 'prometheus', title: 'Disk full', phase: 'firing', severity: 'warning' }),
        expect.objectContaining({ title: 'Down', severity: 'critical', lastNotifiedAtMs: inbound.nowMs }),
      ]),
    )
    expect(await inbound.handlers.inboundConditions({ limit: 0 }, testServiceCall)).toEqual({ conditions: [], open: 2 })
    expect((await inbound.handlers.inboundConditions({ limit: 1 }, testServiceCall)).conditions).toHaveLength(1)
    await inbound.process({ status: 'resolved' })
    expect((await listed(inbound)).map(({ title }) => title)).toEqual(['Down'])
  })

  it('sends no reminder while acknowledged, but its recovery', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    const episode = await episodeOf(inbound)
    const said = await inbound.handlers.silenceInbound(
      { episode, kind: 'ack', minutes: 90, note: 'on it' },
      testServiceCall,
    )
    expect(said).toMatchObject({ hostKey: null, by: 'test', note: 'on it', untilMs: inbound.nowMs + 90 * minuteMs })
    expect(await listed(inbound)).toMatchObject([{ acknowledged: { untilMs: said.untilMs } }])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual([])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['remind warning Disk full on prometheus'])
    expect(await inbound.process({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
  })

  it('sends only its recovery while dismissed', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    const dismissal = { episode: await episodeOf(inbound), kind: 'dismissal' as const }
    await inbound.handlers.silenceInbound({ ...dismissal, minutes: null, note: '' }, testServiceCall)
    expect(await inbound.process({ severity: 'critical' })).toEqual([])
    await inbound.handlers.unsilenceInbound(dismissal, testServiceCall)
    expect(await inbound.tick()).toEqual(['escalate critical Disk full on prometheus'])
  })

  it('keeps silences through the next sweep and receives those from the database', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    const episode = await episodeOf(inbound)
    await inbound.handlers.silenceInbound({ episode, kind: 'ack', minutes: null, note: '' }, testServiceCall)
    await inbound.reconcile()
    expect(await listed(inbound)).toMatchObject([{ acknowledged: { untilMs: null }, dismissed: null }])
    await inbound.stores.silences.remove('ack', episode)
    await inbound.reconcile()
    expect(await listed(inbound)).toMatchObject([{ acknowledged: null }])
  })

  it('is not found once closed, and its silences end', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    const episode = await episodeOf(inbound)
    await inbound.handlers.silenceInbound({ episode, kind: 'ack', minutes: null, note: '' }, testServiceCall)
    expect(await inbound.stores.silences.list()).toHaveLength(1)
    await inbound.process({ status: 'resolved' })
    expect(await inbound.stores.silences.list()).toEqual([])
    const refusal = { code: 'not-found', details: { parameter: 'episode' } }
    const again = inbound.handlers.silenceInbound({ episode, kind: 'ack', minutes: null, note: '' }, testServiceCall)
    await expect(again).rejects.toMatchObject(refusal)
    await expect(inbound.handlers.unsilenceInbound({ episode, kind: 'ack' }, testServiceCall)).rejects.toMatchObject(
      refusal,
    )
  })
})

describe('an emptied store', () => {
  it('gets open conditions back first, so that nothing is sent again', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({}, { dedupKey: 'other', title: 'Down' })
    const episode = await episodeOf(inbound)
    await inbound.lose()
    expect(await inbound.process({})).toEqual([])
    expect((await listed(inbound)).map((condition) => condition.episode)).toContain(episode)
    await inbound.lose()
    expect(await inbound.process({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
    await inbound.lose()
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['remind warning Down on prometheus'])
  })

  it('resends notifications without a recorded delivery, and recoveries', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    await inbound.lose()
    inbound.isMissed = true
    expect(await inbound.tick()).toEqual(['fire warning Disk full on prometheus'])
    expect(await inbound.process({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
  })

  it('resends a recovery that waited, but none that was delivered', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    await inbound.process({ status: 'resolved' })
    await inbound.lose()
    expect(await inbound.tick()).toEqual([])
    inbound.isMissed = true
    await inbound.lose()
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
    expect(inbound.notifications).toMatchObject([{ sequence: 1, isAgain: true, hostKey: null }])
    expect(await inbound.tick()).toEqual([])
  })

  it('sends a recovery even if the delivery is recorded later', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({}, { status: 'resolved' })
    await inbound.lose()
    expect(await inbound.tick()).toEqual([])
    inbound.isMissed = true
    await inbound.reconcile()
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })

  it('adds missing episodes to the database', async () => {
    await using inbound = await openInboundFixture()
    const { write } = inbound.stores.eventEpisodes
    inbound.stores.eventEpisodes.write = () => Promise.reject(new Error('away'))
    await inbound.process({})
    inbound.stores.eventEpisodes.write = write
    await inbound.reconcile()
    expect(await inbound.stores.eventEpisodes.open()).toHaveLength(1)
  })

  it('does not restore closed conditions', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({}, { status: 'resolved' })
    await inbound.lose()
    expect(await inbound.tick()).toEqual([])
    expect(await listed(inbound)).toEqual([])
  })

  it('does not reopen a condition that closed during the restore, even if the clock was set since', async () => {
    await using inbound = await openInboundFixture()
    const { eventEpisodes } = inbound.stores
    const { write } = eventEpisodes
    await inbound.process({})
    // Simulates a process that died before it recorded the recovery in the database, during an unfinished restore.
    eventEpisodes.write = () => Promise.reject(new Error('away'))
    await inbound.process({ status: 'resolved' })
    eventEpisodes.write = write
    await inbound.store.update(restoreMarkerKey, RestoreMarker, () => ({ value: undefined }))
    inbound.nowMs += 2 * hourMs
    expect(await inbound.tick()).toEqual([])
    expect(await listed(inbound)).toEqual([])
    expect(await inbound.process({})).toEqual(['fire warning Disk full on prometheus'])
  })

  it('is restored again if it is emptied during the restore, even by another process', async () => {
    await using opened = new AsyncDisposableStack()
    const inbound = opened.use(await openInboundFixture())
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-emptied-'))
    opened.defer(() => rm(directory, { recursive: true }))
    const env = { SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}` }
    const store = opened.use(await openStore({ env, busIsShared: false }))
    const other = opened.use(await openStore({ env, busIsShared: false }))
    await inbound.process({})
    const { eventEpisodes } = inbound.stores
    const { ended } = eventEpisodes
    eventEpisodes.ended = async (sinceMs) => {
      await other.update(`${restoreMarkerKey}:started`, z.unknown(), () => ({ value: undefined }))
      return ended(sinceMs)
    }
    const deps = { ...inbound.parts, store, maxOpen: maxOpenConditions }
    await restoreInboundConditions(deps)
    expect(await other.get(restoreMarkerKey, RestoreMarker)).toBeUndefined()
    eventEpisodes.ended = ended
    await restoreInboundConditions(deps)
    expect(await other.get(restoreMarkerKey, RestoreMarker)).toBeDefined()
  })

  it('starts new episodes while the database is unavailable', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    await inbound.lose()
    const { open } = inbound.stores.eventEpisodes
    inbound.stores.eventEpisodes.open = () => Promise.reject(new Error('away'))
    expect(await inbound.process({})).toEqual(['fire warning Disk full on prometheus'])
    inbound.stores.eventEpisodes.open = open
    expect(await inbound.tick()).toEqual([])
    expect(await listed(inbound)).toHaveLength(1)
    // The earlier episode ends once store and database are reconciled.
    inbound.isMissed = true
    await inbound.reconcile()
    expect(await inbound.stores.eventEpisodes.open()).toHaveLength(1)
    // The recipients of the earlier episode get its recovery once.
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
    inbound.isMissed = false
    await inbound.reconcile()
    expect(await inbound.tick()).toEqual([])
  })
})
