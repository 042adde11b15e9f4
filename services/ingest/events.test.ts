import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '#shared/store/sql/connection.ts'
import { describeWith, startPostgres } from '../testing/describe-with.ts'
import { createEvent } from './testing/event.ts'
import { type EventStore, openEventStore } from './events.ts'

const inDatabase = async (opened: AsyncDisposableStack, kind: 'postgres' | 'sqlite', url: string) =>
  openEventStore(opened.use(await openDatabase({ kind, url, token: undefined, tablePrefix: 'e_' })))

const implementations: Record<string, (opened: AsyncDisposableStack) => Promise<EventStore>> = {
  memory: async () => openEventStore(undefined),
  libSQL: async (opened) => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-events-'))
    opened.defer(() => rm(directory, { recursive: true }))
    return inDatabase(opened, 'sqlite', `file:${join(directory, 'state.db')}`)
  },
  PostgreSQL: async (opened) => inDatabase(opened, 'postgres', opened.use(await startPostgres()).url),
}

const needs: Record<string, readonly 'postgres'[]> = { PostgreSQL: ['postgres'] }

describe.each(Object.keys(implementations))('inbound events', (name) => {
  describeWith(needs[name] ?? [], `in ${name}`, () => suite(name))
})

const odd = createEvent({
  id: 'd',
  source: `it's "cron"`,
  severity: 'critical',
  status: 'resolved',
  title: '100%_ of \u0000 ÄÖ',
  labels: { ключ: '\u0000 😀' },
  receivedAt: 1_790_000_000_000,
})

function suite(name: string): void {
  const opened = new AsyncDisposableStack()
  let events: EventStore
  beforeAll(async () => {
    const open = implementations[name]
    if (!open) throw new Error(`no implementation ${name}`)
    events = await open(opened)
    for (const event of [
      createEvent({ id: 'a', receivedAt: 1_000 }),
      createEvent({ id: 'b', receivedAt: 2_000, status: 'info', severity: 'info', body: 'Released' }),
      createEvent({ id: 'c', receivedAt: 2_000, source: 'nagios' }),
      odd,
      createEvent({ id: 'a', receivedAt: 3_000, title: 'again' }),
    ]) {
      await events.put(event)
    }
  })
  afterAll(() => opened.disposeAsync())

  const found = async (filter: Partial<Parameters<EventStore['list']>[0]>) =>
    (await events.list({ limit: 10, ...filter })).map(({ id }) => id)

  it('are stored once and unchanged, and listed newest first', async () => {
    expect(await found({})).toEqual(['d', 'b', 'c', 'a'])
    expect((await events.list({ limit: 1 }))[0]).toEqual(odd)
    expect((await events.list({ limit: 10 }))[3]?.title).toBe('Disk full')
  })

  it.each<[string, Partial<Parameters<EventStore['list']>[0]>, string[]]>([
    ['source', { source: 'nagios' }, ['c']],
    ['source with a quote', { source: odd.source }, ['d']],
    ['severity', { severity: 'info' }, ['b']],
    ['status', { status: 'resolved' }, ['d']],
    ['text of the title in either case', { search: 'DISK' }, ['b', 'c', 'a']],
    ['text of the body', { search: 'released' }, ['b']],
    ['text with wildcard characters of SQL', { search: '0%_ o' }, ['d']],
    ['wildcard characters matched literally', { search: 'D_sk' }, []],
    ['letters beyond ASCII', { search: 'äö' }, ['d']],
    ['time', { fromMs: 1_001, toMs: 2_001 }, ['b', 'c']],
    ['all filters combined', { source: 'prometheus', status: 'firing', search: 'full' }, ['a']],
  ])('are found by %s', async (_name, filter, ids) => {
    expect(await found(filter)).toEqual(ids)
  })

  it('are paginated, even with equal timestamps', async () => {
    expect(await found({ limit: 2 })).toEqual(['d', 'b'])
    expect(await found({ limit: 2, after: { receivedAt: 2_000, id: 'b' } })).toEqual(['c', 'a'])
    expect(await found({ limit: 2, after: { receivedAt: 1_000, id: 'a' } })).toEqual([])
  })

  it('are deleted by prune', async () => {
    expect(await events.prune(2_000)).toBe(1)
    expect(await found({})).toEqual(['d', 'b', 'c'])
  })
}
