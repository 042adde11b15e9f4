import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Silence } from '#proto/alert-history.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import { describeWith, startPostgres } from '../../testing/describe-with.ts'
import type { Condition, Episode, Transition } from '../conditions/condition.ts'
import type { EventEpisode } from '../events/event-entry.ts'
import { createMemoryStores, openCollectionStores } from './collection-stores.ts'
import { maxEntriesPerKind, type DispatcherStores } from './stores.ts'

const condition = (episode: string, more: Partial<Condition> = {}): Condition => ({
  ruleId: 'disk-usage',
  episode,
  title: `it's "full"`,
  unit: 'percent',
  runbook: '',
  phase: 'firing',
  severity: 'warning',
  peak: 'warning',
  breaches: 1,
  clears: 0,
  value: 81.5,
  threshold: 80,
  offenders: ['default'],
  sinceMs: 1_790_000_000_000,
  evaluatedAtMs: 1_790_000_000_000,
  lastNotification: null,
  sequence: 1,
  held: null,
  acknowledged: null,
  dismissed: null,
  ...more,
})
const episode = (id: string, more: Partial<Condition> = {}, endedAtMs: number | null = null): Episode => ({
  hostKey: 'db',
  condition: condition(id, more),
  endedAtMs,
})
const transition = (id: string, more: Partial<Transition> = {}): Transition => ({
  id,
  episode: 'e1',
  hostKey: 'db',
  ruleId: 'disk-usage',
  title: 'Disk full',
  kind: 'fire',
  severity: 'warning',
  value: 81.5,
  threshold: null,
  sinceMs: 900,
  atMs: 1_000,
  reason: 'it began',
  ...more,
})
const silence = (episode: string, more: Partial<Silence> = {}): Silence => ({
  kind: 'ack',
  episode,
  hostKey: 'db',
  ruleId: 'disk-usage',
  by: 'ada',
  note: 'on it',
  atMs: 1_790_000_000_000,
  untilMs: null,
  ...more,
})

let places = 0
const inDatabase = async (opened: AsyncDisposableStack, kind: 'postgres' | 'sqlite', url: string) =>
  openCollectionStores(
    opened.use(await openDatabase({ kind, url, token: undefined, tablePrefix: `p${(places += 1)}_` })),
  )

type Open = () => Promise<DispatcherStores>
const implementations: Record<string, (opened: AsyncDisposableStack) => Promise<Open>> = {
  memory: async () => async () => createMemoryStores(),
  libSQL: async (opened) => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-alerts-'))
    opened.defer(() => rm(directory, { recursive: true }))
    return () => inDatabase(opened, 'sqlite', `file:${join(directory, 'state.db')}`)
  },
  PostgreSQL: async (opened) => {
    const { url } = opened.use(await startPostgres())
    return () => inDatabase(opened, 'postgres', url)
  },
}
const needs: Record<string, readonly 'postgres'[]> = { PostgreSQL: ['postgres'] }

describe.each(Object.keys(implementations))('the stores', (name) => {
  describeWith(needs[name] ?? [], `in ${name}`, () => suite(name))
})

function suite(name: string): void {
  const opened = new AsyncDisposableStack()
  let open: Open
  beforeAll(async () => {
    const prepare = implementations[name]
    if (!prepare) throw new Error(`no implementation ${name}`)
    open = await prepare(opened)
  })
  afterAll(() => opened.disposeAsync())

  it('report whether they are persistent', async () => {
    expect((await open()).isPersistent).toBe(name !== 'memory')
  })

  describe('episodes', () => {
    it('are listed after they ended, newest first', async () => {
      const { episodes, eventEpisodes } = await open()
      const ended = [episode('ended-1', {}, 9_001), episode('ended-2', {}, 9_003), episode('ended-3', {}, 9_002)]
      await episodes.write([...ended, episode('goes-on')], [])
      const found = (await episodes.ended(9_002)).filter(({ condition }) => condition.episode.startsWith('ended-'))
      expect(found.map(({ condition, endedAtMs }) => [condition.episode, endedAtMs])).toEqual([
        ['ended-2', 9_003],
        ['ended-3', 9_002],
      ])
      expect(await eventEpisodes.ended(Number.MAX_SAFE_INTEGER)).toEqual([])
      await episodes.prune(10_000)
      await episodes.write([episode('goes-on', {}, 1)], [])
    })

    it('are returned in their last written state while open', async () => {
      const { episodes } = await open()
      await episodes.write([episode('e1'), episode('e2'), episode('e3')], [])
      await episodes.write([episode('e1', { severity: 'critical', sequence: 2 }), episode('e2', {}, 5_000)], [])
      const goingOn = (await episodes.open()).toSorted((one, other) =>
        one.condition.episode.localeCompare(other.condition.episode),
      )
      expect(goingOn).toEqual([episode('e1', { severity: 'critical', sequence: 2 }), episode('e3')])
    })

    it('are not changed or reopened by a late write', async () => {
      const { episodes } = await open()
      await episodes.write([episode('e1', { sequence: 3 })], [])
      await episodes.write([episode('e1', { sequence: 2, severity: 'critical' })], [])
      expect(await episodes.open()).toEqual([episode('e1', { sequence: 3 })])
      await episodes.write([episode('e1', { sequence: 4 }, 5_000)], [])
      await episodes.write([episode('e1', { sequence: 4 })], [])
      expect(await episodes.open()).toEqual([])
    })

    it('accept many at once, including duplicates', async () => {
      const { episodes, history } = await open()
      const ids = Array.from({ length: 1_201 }, (_, index) => `e${index}`)
      await episodes.write(
        [...ids, 'e0'].map((id) => episode(id)),
        ids.map((id) => transition(id)),
      )
      expect(await episodes.open()).toHaveLength(1_201)
      expect(await history.list({ limit: 5_000 })).toHaveLength(1_201)
    })

    it('are deleted by prune after they ended', async () => {
      const { episodes } = await open()
      await episodes.write([episode('e1'), episode('e2', {}, 1_000), episode('e3', {}, 2_000)], [])
      expect(await episodes.prune(2_000)).toBe(1)
      expect(await episodes.prune(2_000)).toBe(0)
      expect(await episodes.open()).toHaveLength(1)
    })
  })

  describe('the history', () => {
    const filled = async () => {
      const stores = await open()
      await stores.episodes.write(
        [],
        [
          transition('one'),
          transition('two', { atMs: 2_000, hostKey: 'logs', kind: 'held', reason: 'maintenance' }),
          transition('three', { atMs: 1_790_000_000_000, value: null }),
        ],
      )
      return stores.history
    }

    it('stores each entry once and lists the newest first', async () => {
      const { episodes, history } = await open()
      await episodes.write([], [transition('one'), transition('two', { atMs: 2_000 })])
      await episodes.write([], [transition('one', { reason: 'changed' })])
      expect(await history.list({ limit: 10 })).toEqual([transition('two', { atMs: 2_000 }), transition('one')])
    })

    it.each([
      [{ hostKey: 'logs' }, ['two']],
      [{ fromMs: 2_000 }, ['three', 'two']],
      [{ toMs: 2_000 }, ['one']],
      [{ fromMs: 1_000, toMs: 2_001 }, ['two', 'one']],
      [{ limit: 1 }, ['three']],
    ])('is filtered by %j', async (filter, ids) => {
      const history = await filled()
      expect((await history.list({ limit: 10, ...filter })).map(({ id }) => id)).toEqual(ids)
    })

    it('is deleted by prune', async () => {
      const history = await filled()
      expect(await history.prune(2_000)).toBe(1)
      expect((await history.list({ limit: 10 })).map(({ id }) => id)).toEqual(['three', 'two'])
    })
  })

  describe('silences', () => {
    it('are stored once per kind and episode', async () => {
      const { silences } = await open()
      await silences.put(silence('e1'))
      await silences.put(silence('e1', { by: 'grace', untilMs: 1_790_000_300_000 }))
      await silences.put(silence('e1', { kind: 'dismissal', atMs: 1_790_000_000_001 }))
      expect(await silences.list()).toEqual([
        silence('e1', { by: 'grace', untilMs: 1_790_000_300_000 }),
        silence('e1', { kind: 'dismissal', atMs: 1_790_000_000_001 }),
      ])
      expect(await silences.remove('ack', 'e1')).toBe(true)
      expect(await silences.remove('ack', 'e1')).toBe(false)
      expect(await silences.list()).toHaveLength(1)
    })

    it('are returned per open episode', async () => {
      const { episodes, silences } = await open()
      await episodes.write([episode('e1'), episode('e2', {}, 5_000)], [])
      for (const id of ['e1', 'e2']) await silences.put(silence(id))
      await silences.put(silence('e1', { kind: 'dismissal', untilMs: 7, atMs: 1_790_000_000_001 }))
      await silences.put(silence('not-kept-yet', { atMs: 1_790_000_000_002 }))
      expect(await episodes.storedSilences()).toEqual([
        { episode: 'e1', acknowledged: { untilMs: null }, dismissed: { untilMs: 7 } },
        { episode: 'not-kept-yet', acknowledged: { untilMs: null }, dismissed: null },
      ])
      expect((await silences.list()).map(({ episode }) => episode)).toEqual(['e1', 'e1', 'not-kept-yet'])
    })

    it('are deleted when they or their episode ended', async () => {
      const { episodes, silences } = await open()
      await episodes.write([episode('goes-on'), episode('ended', {}, 500)], [])
      await silences.put(silence('goes-on', { atMs: 1 }))
      await silences.put(silence('ended', { atMs: 2 }))
      await silences.put(silence('ended', { kind: 'dismissal', atMs: 3, untilMs: 900 }))
      await silences.put(silence('unknown', { atMs: 4 }))
      await silences.put(silence('later', { atMs: 1_500 }))
      expect(await silences.prune(1_000)).toBe(3)
      expect(await silences.prune(1_000)).toBe(0)
      expect((await silences.list()).map(({ episode }) => episode)).toEqual(['goes-on', 'later'])
    })
  })

  describe('episodes of inbound events', () => {
    const inbound = (id: string, more: Partial<Condition> = {}, endedAtMs: number | null = null): EventEpisode => ({
      place: 'a'.repeat(40),
      entry: {
        source: 'prometheus',
        condition: condition(id, more),
        occurredAtMs: 1_790_000_000_000,
        endsAtMs: null,
        seenAtMs: 1_790_000_000_000,
      },
      endedAtMs,
    })

    it('are returned in their last written state while open', async () => {
      const { eventEpisodes } = await open()
      await eventEpisodes.write([inbound('e1'), inbound('e2'), inbound('e3')])
      await eventEpisodes.write([inbound('e1', { severity: 'critical', sequence: 2 }), inbound('e2', {}, 5_000)])
      await eventEpisodes.write([inbound('e1', { sequence: 1 }), inbound('e2', { sequence: 3 })])
      await eventEpisodes.write([])
      const found = (await eventEpisodes.open()).toSorted((one, other) =>
        one.entry.condition.episode.localeCompare(other.entry.condition.episode),
      )
      expect(found).toEqual([inbound('e1', { severity: 'critical', sequence: 2 }), inbound('e3')])
      expect(await eventEpisodes.prune(6_000)).toBe(1)
    })

    it('end their silences', async () => {
      const { eventEpisodes, silences } = await open()
      await eventEpisodes.write([inbound('goes-on'), inbound('ended', {}, 500)])
      for (const id of ['goes-on', 'ended']) await silences.put(silence(id, { hostKey: null, atMs: 1 }))
      expect((await silences.list()).map(({ episode }) => episode)).toEqual(['goes-on'])
      expect(await silences.prune(1_000)).toBe(1)
    })
  })

  describe('alert configuration', () => {
    it('is stored once per kind and id', async () => {
      const { policy } = await open()
      await policy.put('route', 'a', { target: 'webhook' }, 1)
      await policy.put('route', 'a', { target: 'email', text: `it's "so"` }, 2)
      await policy.put('quiet-hours', 'a', { days: [1] }, 3)
      expect(await policy.all()).toEqual(
        expect.arrayContaining([
          { kind: 'route', id: 'a', body: { target: 'email', text: `it's "so"` } },
          { kind: 'quiet-hours', id: 'a', body: { days: [1] } },
        ]),
      )
      expect(await policy.remove('route', 'a')).toBe(true)
      expect(await policy.remove('route', 'a')).toBe(false)
      expect(await policy.all()).toHaveLength(1)
    })

    it('is written only if it exists or is missing as required, despite concurrent writes', async () => {
      const { policy } = await open()
      const adding = Array.from({ length: 6 }, (_, index) => policy.put('route', 'a', { index }, 1, 'absent'))
      expect((await Promise.all(adding)).filter(Boolean)).toHaveLength(1)
      expect(await policy.put('route', 'a', { target: 'email' }, 2, 'present')).toBe(true)
      await policy.remove('route', 'a')
      expect(await policy.put('route', 'a', { target: 'email' }, 3, 'present')).toBe(false)
      expect(await policy.all()).toEqual([])
    })

    it('is limited per kind, even with concurrent writes', async () => {
      const { policy } = await open()
      const add = (index: number) => policy.put('route', `r${index}`, {}, 1)
      for (let index = 0; index < maxEntriesPerKind - 5; index += 1) await add(index)
      const atOnce = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => add(maxEntriesPerKind + index)))
      const refused = atOnce.filter((each) => each.status === 'rejected')
      expect(refused.map(({ reason }) => reason)).toEqual(Array(5).fill(expect.objectContaining({ code: 'conflict' })))
      expect(await policy.all()).toHaveLength(maxEntriesPerKind)
      await policy.put('route', 'r0', { changed: true }, 2)
      await policy.put('digest', 'one-more', {}, 2)
    })

    it('has a lower limit and unique names for webhook targets, even with concurrent writes', async () => {
      const { policy } = await open()
      const add = (index: number, name = `team ${index}`) => policy.put('webhook-target', `t${index}`, { name }, 1)
      const ofOneName = await Promise.allSettled([add(0, 'team'), add(1, 'team'), add(2, 'team')])
      const many = await Promise.allSettled(Array.from({ length: 34 }, (_, index) => add(10 + index)))
      const refused = [...ofOneName, ...many].filter((each) => each.status === 'rejected')
      expect(refused.map(({ reason }) => reason)).toEqual(
        Array(2 + 3).fill(expect.objectContaining({ code: 'conflict' })),
      )
      const all = await policy.all()
      for (const { id, body } of all) await policy.put('webhook-target', id, body, 2)
      expect(all).toHaveLength(32)
    })
  })
}
