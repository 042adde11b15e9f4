import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openStore } from '#shared/store/open.ts'
import { call } from '../delivery/testing/place.ts'
import { type Inbound, openInbound } from '../testing/inbound.ts'
import { Marker, markerKey, rebuildEvents } from './rebuild.ts'
import { mostOpen } from './record.ts'

const hourMs = 60 * 60_000
const minuteMs = 60_000

const listed = async ({ handlers }: Inbound) => (await handlers.inboundConditions({ limit: 10 }, call)).conditions
const episodeOf = async (inbound: Inbound): Promise<string> => {
  const [condition] = await listed(inbound)
  if (!condition) throw new Error('nothing is open')
  return condition.episode
}

describe('what an inbound event began', () => {
  it('is shown with its source as long as it is open', async () => {
    await using inbound = await openInbound()
    expect(await inbound.handlers.inboundConditions({ limit: 10 }, call)).toEqual({ conditions: [], open: 0 })
    await inbound.hear({}, { dedupKey: 'other', severity: 'critical', title: 'Down' })
    expect(await listed(inbound)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ source: 'prometheus', title: 'Disk full', phase: 'firing', severity: 'warning' }),
        expect.objectContaining({ title: 'Down', severity: 'critical', toldAtMs: inbound.nowMs }),
      ]),
    )
    expect(await inbound.handlers.inboundConditions({ limit: 0 }, call)).toEqual({ conditions: [], open: 2 })
    expect((await inbound.handlers.inboundConditions({ limit: 1 }, call)).conditions).toHaveLength(1)
    await inbound.hear({ status: 'resolved' })
    expect((await listed(inbound)).map(({ title }) => title)).toEqual(['Down'])
  })

  it('reminds nobody while it is acknowledged, and tells its end', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    const episode = await episodeOf(inbound)
    const said = await inbound.handlers.silenceInbound({ episode, kind: 'ack', minutes: 90, note: 'on it' }, call)
    expect(said).toMatchObject({ hostKey: null, by: 'test', note: 'on it', untilMs: inbound.nowMs + 90 * minuteMs })
    expect(await listed(inbound)).toMatchObject([{ acknowledged: { untilMs: said.untilMs } }])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual([])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['remind warning Disk full on prometheus'])
    expect(await inbound.hear({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
  })

  it('tells nothing but its end while it is dismissed', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    const dismissal = { episode: await episodeOf(inbound), kind: 'dismissal' as const }
    await inbound.handlers.silenceInbound({ ...dismissal, minutes: null, note: '' }, call)
    expect(await inbound.hear({ severity: 'critical' })).toEqual([])
    await inbound.handlers.unsilenceInbound(dismissal, call)
    expect(await inbound.tick()).toEqual(['escalate critical Disk full on prometheus'])
  })

  it('keeps what was said through the next sweep, and hears what was said elsewhere', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    const episode = await episodeOf(inbound)
    await inbound.handlers.silenceInbound({ episode, kind: 'ack', minutes: null, note: '' }, call)
    await inbound.reconcile()
    expect(await listed(inbound)).toMatchObject([{ acknowledged: { untilMs: null }, dismissed: null }])
    await inbound.stores.silences.remove('ack', episode)
    await inbound.reconcile()
    expect(await listed(inbound)).toMatchObject([{ acknowledged: null }])
  })

  it('is not found when it is over, and what was said to it is forgotten', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    const episode = await episodeOf(inbound)
    await inbound.handlers.silenceInbound({ episode, kind: 'ack', minutes: null, note: '' }, call)
    expect(await inbound.stores.silences.list()).toHaveLength(1)
    await inbound.hear({ status: 'resolved' })
    expect(await inbound.stores.silences.list()).toEqual([])
    const refusal = { code: 'not-found', details: { parameter: 'episode' } }
    const again = inbound.handlers.silenceInbound({ episode, kind: 'ack', minutes: null, note: '' }, call)
    await expect(again).rejects.toMatchObject(refusal)
    await expect(inbound.handlers.unsilenceInbound({ episode, kind: 'ack' }, call)).rejects.toMatchObject(refusal)
  })
})

describe('a store that came back empty', () => {
  it('gets what was open back before anything else, so that nobody is told anew', async () => {
    await using inbound = await openInbound()
    await inbound.hear({}, { dedupKey: 'other', title: 'Down' })
    const episode = await episodeOf(inbound)
    await inbound.lose()
    expect(await inbound.hear({})).toEqual([])
    expect((await listed(inbound)).map((condition) => condition.episode)).toContain(episode)
    await inbound.lose()
    expect(await inbound.hear({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
    await inbound.lose()
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['remind warning Down on prometheus'])
  })

  it('notifies again where no delivery is on record, and of the end', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    await inbound.lose()
    inbound.isMissed = true
    expect(await inbound.tick()).toEqual(['fire warning Disk full on prometheus'])
    expect(await inbound.hear({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
  })

  it('notifies again of an end that waited, and of none that a target has', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    await inbound.hear({ status: 'resolved' })
    await inbound.lose()
    expect(await inbound.tick()).toEqual([])
    inbound.isMissed = true
    await inbound.lose()
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
    expect(inbound.notices).toMatchObject([{ sequence: 1, isAgain: true, hostKey: null }])
    expect(await inbound.tick()).toEqual([])
  })

  it('notifies of an end also when it gets on record only later who was told', async () => {
    await using inbound = await openInbound()
    await inbound.hear({}, { status: 'resolved' })
    await inbound.lose()
    expect(await inbound.tick()).toEqual([])
    inbound.isMissed = true
    await inbound.reconcile()
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })

  it('adds to the database what that could not take', async () => {
    await using inbound = await openInbound()
    const { write } = inbound.stores.eventEpisodes
    inbound.stores.eventEpisodes.write = () => Promise.reject(new Error('away'))
    await inbound.hear({})
    inbound.stores.eventEpisodes.write = write
    await inbound.reconcile()
    expect(await inbound.stores.eventEpisodes.open()).toHaveLength(1)
  })

  it('gets nothing back that was over', async () => {
    await using inbound = await openInbound()
    await inbound.hear({}, { status: 'resolved' })
    await inbound.lose()
    expect(await inbound.tick()).toEqual([])
    expect(await listed(inbound)).toEqual([])
  })

  it('counts as empty as long as it is emptied while that goes on, also by another process', async () => {
    await using opened = new AsyncDisposableStack()
    const inbound = opened.use(await openInbound())
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-emptied-'))
    opened.defer(() => rm(directory, { recursive: true }))
    const env = { SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}` }
    const store = opened.use(await openStore({ env, busIsShared: false }))
    const other = opened.use(await openStore({ env, busIsShared: false }))
    await inbound.hear({})
    const { eventEpisodes } = inbound.stores
    const { ended } = eventEpisodes
    eventEpisodes.ended = async (sinceMs) => {
      await other.update(`${markerKey}:begun`, z.unknown(), () => ({ value: undefined }))
      return ended(sinceMs)
    }
    const writing = { ...inbound.parts, store, mostOpen }
    await rebuildEvents(writing)
    expect(await other.get(markerKey, Marker)).toBeUndefined()
    eventEpisodes.ended = ended
    await rebuildEvents(writing)
    expect(await other.get(markerKey, Marker)).toBeDefined()
  })

  it('takes what comes in as new while the database does not answer', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    await inbound.lose()
    const { open } = inbound.stores.eventEpisodes
    inbound.stores.eventEpisodes.open = () => Promise.reject(new Error('away'))
    expect(await inbound.hear({})).toEqual(['fire warning Disk full on prometheus'])
    inbound.stores.eventEpisodes.open = open
    expect(await inbound.tick()).toEqual([])
    expect(await listed(inbound)).toHaveLength(1)
    // The earlier episode is over once both know of each other.
    inbound.isMissed = true
    await inbound.reconcile()
    expect(await inbound.stores.eventEpisodes.open()).toHaveLength(1)
    // Who was told of it hears so, once.
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
    inbound.isMissed = false
    await inbound.reconcile()
    expect(await inbound.tick()).toEqual([])
  })
})
