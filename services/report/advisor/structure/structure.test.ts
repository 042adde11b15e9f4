import { describe, expect, it } from 'vitest'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { createUserCall } from '../../testing/insights.ts'
import { createColumn, createColumnCounts, createTableFacts } from '../../testing/table-facts.ts'
import { adviseOnSettings, adviseOnUpgrade } from './advise-host.ts'
import { adviseOnCodecs } from './codecs.ts'
import type { TableFacts } from './table-facts.ts'
import { tableAdvisors } from './kinds/index.ts'

const gibibyte = 1_024 ** 3
const advised = (facts: TableFacts) => tableAdvisors.flatMap((kind) => kind(facts))
const titles = (facts: TableFacts) => advised(facts).map(({ title }) => title)
const one = (
  type: string,
  counts: Parameters<typeof createColumnCounts>[0] = {},
  more: Parameters<typeof createColumn>[2] = {},
) => createTableFacts([createColumn('x', type, more)], { counted: new Map([['x', createColumnCounts(counts)]]) })

describe('advice on a column', () => {
  it.each([
    ['Nullable(UInt64)', {}, ['x need not be Nullable']],
    ['Nullable(UInt64)', { nulls: 1 }, []],
    ['String', {}, ['x as LowCardinality']],
    ['String', { distinct: 10_001 }, []],
    ['LowCardinality(String)', {}, []],
    ['UInt64', {}, ['x as UInt8']],
    ['UInt64', { maximum: 64 }, ['x as UInt16']],
    ['Int32', { minimum: -40, maximum: 20 }, ['x as Int16']],
    ['UInt64', { maximum: 2 ** 62 }, []],
    ['UInt64', { minimum: null, maximum: null }, []],
    ['Float64', {}, []],
  ])('for type %s with %j is %j', (type, counts, expected) => {
    expect(titles(one(type, counts))).toEqual(expected)
  })

  it.each([['UInt64'], ['String'], ['Nullable(UInt64)']])('is empty for a key column of type %s', (type) => {
    expect(titles(one(type, {}, { isInSortingKey: true }))).toEqual([])
  })

  it.each([['UInt64'], ['String'], ['Nullable(UInt64)']])(
    'is empty for a column of type %s in a table with one row',
    (type) => {
      expect(advised({ ...one(type), sampled: 1 })).toEqual([])
    },
  )

  it('returns the DDL, the proof and the savings', () => {
    expect(advised(one('String'))).toEqual([
      expect.objectContaining({
        kind: 'low-cardinality',
        subject: 'cafe.orders.x',
        ddl: 'ALTER TABLE `cafe`.`orders` MODIFY COLUMN `x` LowCardinality(String)',
        proof: 'estimated',
        savings: { bytesBefore: 8_000_000, bytesAfter: 1_000_000, of: 'uncompressed' },
      }),
    ])
  })
})

describe('advice on a table', () => {
  const keys = (leading: number, second: number) =>
    createTableFacts(
      [createColumn('id', 'UUID', { isInSortingKey: true }), createColumn('kind', 'UUID', { isInSortingKey: true })],
      {
        overview: { sortingKey: 'id, kind' },
        counted: new Map([
          ['id', createColumnCounts({ distinct: leading })],
          ['kind', createColumnCounts({ distinct: second })],
        ]),
      },
    )

  it('puts columns with few values first in the sorting key', () => {
    expect(titles(keys(900_000, 5))).toEqual(['kind before id in the sorting key'])
    expect(titles(keys(5, 900_000))).toEqual([])
    expect(titles(keys(900_000, 800_000))).toEqual([])
  })

  it('recommends a sorting key if there is none', () => {
    expect(advised(createTableFacts([], { overview: { sortingKey: '' } }))).toMatchObject([
      { title: 'Add a sorting key', proof: 'unverified', ddl: null },
    ])
  })

  it('recommends a TTL for old data without one', () => {
    const day = createColumn('day', 'Date', { isInPartitionKey: true })
    const old = { oldBytes: 5 * gibibyte, overview: { compressedBytes: 10 * gibibyte } }
    expect(advised(createTableFacts([day], old))).toMatchObject([
      {
        kind: 'ttl',
        ddl: expect.stringContaining('MODIFY TTL toDateTime(`day`)'),
        savings: { bytesAfter: 5 * gibibyte },
      },
    ])
    const removed = { ...old.overview, engineFull: 'MergeTree ORDER BY id TTL day + toIntervalYear(1)' }
    expect(advised(createTableFacts([day], { ...old, overview: removed }))).toEqual([])
    expect(advised(createTableFacts([day], { ...old, oldBytes: gibibyte / 2 }))).toEqual([])
  })
})

describe('advice on codecs', () => {
  const facts = createTableFacts([createColumn('x', 'UInt64', { ratio: 2 })])
  type Responses = Partial<ServiceClient<typeof query>>
  const ratios: Responses = { codecRatios: async () => [{ codec: 'Delta, ZSTD(1)', ratio: 8 }] }
  const advise = (responses: Responses, more: { readsData?: boolean; mayWrite?: boolean } = {}, of = facts) => {
    const fail = () => Promise.reject(new Error('unexpected call'))
    const all = new Proxy(responses, { get: (target, name) => Reflect.get(target, name) ?? fail })
    const named = { hostKey: 'box', database: 'cafe', table: 'orders', readsData: true, mayWrite: false, ...more }
    // The cast is safe, because the proxy provides every method; those without a response reject.
    return adviseOnCodecs({ query: all as ServiceClient<typeof query>, call: createUserCall(), ...named }, of)
  }

  it('is estimated by the host', async () => {
    expect(await advise(ratios)).toMatchObject([
      {
        title: 'x with CODEC(Delta, ZSTD(1))',
        proof: 'estimated',
        savings: { bytesBefore: 4_000_000, bytesAfter: 1_000_000, of: 'stored' },
        ddl: 'ALTER TABLE `cafe`.`orders` MODIFY COLUMN `x` UInt64 CODEC(Delta, ZSTD(1))',
      },
    ])
  })

  it('is verified by a measurement if that is allowed', async () => {
    const measureCodec = async () => ({ rows: 10, bytesBefore: 100, bytesAfter: 50 })
    expect(await advise({ ...ratios, measureCodec }, { mayWrite: true })).toMatchObject([
      { proof: 'verified', savings: { bytesAfter: 2_000_000 } },
    ])
    const useless = async () => ({ rows: 10, bytesBefore: 100, bytesAfter: 90 })
    expect(await advise({ ...ratios, measureCodec: useless }, { mayWrite: true })).toEqual([])
  })

  it('stays estimated if the user has no write access', async () => {
    const measureCodec = () => Promise.reject(new ServiceError('forbidden', 'read-only'))
    expect(await advise({ ...ratios, measureCodec }, { mayWrite: true })).toMatchObject([{ proof: 'estimated' }])
  })

  it('is unverified if reading is not allowed or the host cannot estimate', async () => {
    expect(await advise({}, { readsData: false })).toMatchObject([{ proof: 'unverified', savings: null }])
    expect(await advise({ codecRatios: async () => [] })).toMatchObject([{ proof: 'unverified', savings: null }])
  })

  it('is empty for small columns, columns with a codec, and small savings', async () => {
    expect(
      await advise(ratios, {}, createTableFacts([createColumn('x', 'UInt64', { compressedBytes: 1_000 })])),
    ).toEqual([])
    expect(
      await advise(ratios, {}, createTableFacts([createColumn('x', 'UInt64', { codec: 'CODEC(ZSTD(1))' })])),
    ).toEqual([])
    expect(await advise({ codecRatios: async () => [{ codec: 'ZSTD(1)', ratio: 2.2 }] })).toEqual([])
  })

  it('rejects if the host is unreachable, but not if it rejects the measurement', async () => {
    const codecRatios = () => Promise.reject(new ServiceError('unavailable', 'gone'))
    await expect(advise({ codecRatios })).rejects.toMatchObject({ code: 'unavailable' })
    const refused = new ServiceError('unavailable', 'out of memory', { details: { clickhouseCode: 241 } })
    await expect(advise({ codecRatios: () => Promise.reject(refused) })).resolves.toBeDefined()
  })
})

describe('advice on a host', () => {
  const good = {
    max_threads: 'auto(8)',
    max_memory_usage: String(10 * gibibyte),
    max_bytes_before_external_group_by: '0',
    max_bytes_ratio_before_external_group_by: '0.5',
    background_pool_size: '16',
    mark_cache_size: String(5 * gibibyte),
    max_server_memory_usage_to_ram_ratio: '0.9',
  }
  const names = (
    settings: Record<string, string>,
    cores: number | null = 8,
    memoryBytes: number | null = 64 * gibibyte,
  ) => adviseOnSettings({ cores, memoryBytes, settings: { ...good, ...settings } }).map(({ subject }) => subject)

  it.each([
    [{}, []],
    [{ max_threads: '64' }, ['max_threads']],
    [{ max_memory_usage: '0' }, ['max_memory_usage']],
    [{ max_memory_usage: String(100 * gibibyte) }, ['max_memory_usage']],
    [{ max_bytes_ratio_before_external_group_by: '0' }, ['max_bytes_before_external_group_by']],
    [{ background_pool_size: '64' }, ['background_pool_size']],
    [{ mark_cache_size: String(20 * gibibyte) }, ['mark_cache_size']],
    [{ max_server_memory_usage_to_ram_ratio: '2' }, ['max_server_memory_usage_to_ram_ratio']],
  ])('with %j is %j', (settings, expected) => {
    expect(names(settings)).toEqual(expected)
  })

  it('is empty for unknown hardware, and contains the statement to run', () => {
    expect(names({ max_threads: '64', mark_cache_size: '1e15' }, null, null)).toEqual([])
    expect(adviseOnSettings({ cores: 8, memoryBytes: null, settings: { max_threads: '64' } })).toMatchObject([
      { ddl: 'ALTER USER <user> SETTINGS max_threads = 8', proof: 'unverified' },
    ])
  })

  const nowMs = Date.UTC(2026, 10, 21)
  const changes = [{ release: '26.4', name: 'a', after: '1', reason: 'Faster.' }]
  it.each([
    ['26.3.1.7', undefined, null],
    ['25.11.1.1', undefined, null],
    ['25.10.1.1', undefined, '25.10.1.1 is 13 months old'],
    ['24.8.4.13', { version: '26.7.2.1', changes }, '24.8.4.13 is 27 months old'],
    ['26.3.1.7', { version: '26.7.2.1', changes }, 'Another host runs 26.7.2.1'],
  ])('for %s with a newer host %j is %s', (version, newer, title) => {
    const advice = adviseOnUpgrade({ version, nowMs }, newer)
    expect(advice[0]?.title ?? null).toBe(title)
    if (newer) expect(advice[0]?.rationale).toContain('a = 1 since 26.4: Faster.')
  })
})
