import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CompletedDelivery } from '#proto/delivery.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import { describeWith, startPostgres } from '../../testing/describe-with.ts'
import { createMemoryDeliveries, type DeliveryStore, type VisibleSubscriptions } from './deliveries.ts'
import { openSqlDeliveries } from './sql-deliveries.ts'

const delivered = (id: string, atMs: number, more: Partial<CompletedDelivery> = {}): CompletedDelivery => ({
  id,
  atMs,
  episode: 'e1',
  sequence: 0,
  kind: 'fire',
  ruleId: 'disk-usage',
  hostKey: 'db',
  severity: 'critical',
  channel: 'webhook',
  target: 'default',
  result: 'sent',
  reason: null,
  attempts: 1,
  ...more,
})

const inDatabase = async (opened: AsyncDisposableStack, kind: 'postgres' | 'sqlite', url: string) =>
  openSqlDeliveries(opened.use(await openDatabase({ kind, url, token: undefined, tablePrefix: 'd_' })))

const implementations: Record<string, (opened: AsyncDisposableStack) => Promise<DeliveryStore>> = {
  memory: async () => createMemoryDeliveries(),
  libSQL: async (opened) => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-deliveries-'))
    opened.defer(() => rm(directory, { recursive: true }))
    return inDatabase(opened, 'sqlite', `file:${join(directory, 'state.db')}`)
  },
  PostgreSQL: async (opened) => inDatabase(opened, 'postgres', opened.use(await startPostgres()).url),
}

const needs: Record<string, readonly 'postgres'[]> = { PostgreSQL: ['postgres'] }

describe.each(Object.keys(implementations))('delivery records', (name) => {
  describeWith(needs[name] ?? [], `in ${name}`, () => suite(name))
})

function suite(name: string): void {
  const opened = new AsyncDisposableStack()
  let records: DeliveryStore
  beforeAll(async () => {
    const open = implementations[name]
    if (!open) throw new Error(`no implementation ${name}`)
    records = await open(opened)
    await records.put([delivered('one', 1_000, { result: 'dead', reason: `it's "gone"` })])
    await records.put([delivered('two', 2_000, { target: 'ops', episode: 'e2', hostKey: null })])
    await records.put([delivered('three', 1_790_000_000_000, { channel: 'sms', sequence: 4 })])
    await records.put([delivered('four', 3_000, { channel: 'sms', sequence: 2 })])
    await records.put([delivered('one', 1_500, { attempts: 3 })])
  })
  afterAll(() => opened.disposeAsync())

  const ids = async (filter: Partial<Parameters<DeliveryStore['list']>[0]>) =>
    (await records.list({ limit: 10, ...filter })).map(({ id }) => id)

  it('update a record and are listed newest first', async () => {
    expect(await ids({})).toEqual(['three', 'four', 'two', 'one'])
    expect((await records.list({ limit: 10 }))[3]).toEqual(delivered('one', 1_500, { attempts: 3 }))
  })

  it.each([
    [{ channel: 'sms' }, ['three', 'four']],
    [{ target: 'ops' }, ['two']],
    [{ episode: 'e1' }, ['three', 'four', 'one']],
    [{ result: 'dead' }, []],
    [{ beforeMs: 2_000 }, ['one']],
    [{ limit: 2 }, ['three', 'four']],
  ] as const)('are filtered by %j', async (filter, expected) => {
    expect(await ids(filter)).toEqual(expected)
  })

  it.each<[VisibleSubscriptions | undefined, string[]]>([
    [undefined, []],
    [[], []],
    [['whs_2', 'whs_3'], ['of whs_2']],
    ['all', ['of whs_2', 'of whs_1']],
  ])('include only the subscriptions in %j', async (subscriptions, expected) => {
    await records.put([delivered('of whs_1', 10, { channel: 'subscriptions', target: 'whs_1', episode: 'e9' })])
    await records.put([delivered('of whs_2', 20, { channel: 'subscriptions', target: 'whs_2', episode: 'e9' })])
    expect(await ids({ subscriptions, episode: 'e9' })).toEqual(expected)
    expect(await ids({ subscriptions, beforeMs: 1_000 })).toEqual(expected)
    expect(await records.prune(30)).toBe(2)
  })

  it('keep a sent result', async () => {
    await records.put([delivered('two', 2_500, { target: 'ops', result: 'dropped', reason: 'it knows already' })])
    const [first] = await records.list({ target: 'ops', limit: 10 })
    expect(first).toEqual(delivered('two', 2_000, { target: 'ops', episode: 'e2', hostKey: null }))
  })

  it('return the latest notification of an episode per target', async () => {
    const notified = await records.notifiedTargets('e1')
    expect(notified.toSorted((one, other) => one.channel.localeCompare(other.channel))).toEqual([
      { channel: 'sms', target: 'default', sequence: 4, isOver: false },
      { channel: 'webhook', target: 'default', sequence: 0, isOver: false },
    ])
    await records.put([delivered('end', 9_000, { episode: 'e1', kind: 'recover', sequence: 5 })])
    expect(await records.notifiedTargets('e1')).toContainEqual({
      channel: 'webhook',
      target: 'default',
      sequence: 5,
      isOver: true,
    })
    expect(await records.notifiedTargets('never')).toEqual([])
  })

  it('are deleted by prune', async () => {
    expect(await records.prune(3_000)).toBe(2)
    expect((await ids({})).filter((id) => id !== 'end')).toEqual(['three', 'four'])
  })
}
