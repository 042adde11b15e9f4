import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { adviceKinds } from '#proto/advice.ts'
import { createReadCondition, createAdviceSubject } from '../../testing/subject.ts'
import type { Proposal } from '../advice-subject.ts'
import { queryAdvisors } from './index.ts'
import { proposeMaterializedViews } from './materialized-view.ts'
import { proposePartitionKeys } from './partition-key.ts'
import { proposePrewhere } from './prewhere.ts'
import { proposeProjections } from './projection.ts'
import { proposeSkipIndexes } from './skip-index.ts'

const purposes = (proposals: readonly Proposal[]) => [...new Set(proposals.map(({ purpose }) => purpose))]
const replacing = { engine: 'ReplacingMergeTree', sortingKey: 'id, guest' }
const inMarch = createReadCondition('day', "(`day` >= '2026-03-01')", 'range')

it('has an advisor and a file for every kind', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name !== 'index.ts' && !name.endsWith('.test.ts'))
  expect(files.toSorted()).toEqual(adviceKinds.map((kind) => `${kind}.ts`).toSorted())
  expect(Object.keys(queryAdvisors)).toEqual([...adviceKinds])
})

describe('a skip index', () => {
  it.each([
    ['equality', ['minmax', 'set(100)', 'bloom_filter(0.01)']],
    ['range', ['minmax']],
    ['text', ['minmax', 'ngrambf_v1(4, 4096, 2, 0)']],
    ['other', []],
  ] as const)('is proposed for %s in the types %j', (kind, types) => {
    const proposals = proposeSkipIndexes(
      createAdviceSubject({ read: { conditions: [createReadCondition('guest', 'c', kind)] } }),
    )
    expect(proposals.map(({ test }) => test)).toEqual(types.map((type) => ({ by: 'index', column: 'guest', type })))
  })

  it.each([
    ['the first column of the sorting key', { overview: { sortingKey: 'guest, id' } }],
    ['an indexed column', { indexes: [index('guest')] }],
    ['FINAL', { read: { isFinal: true } }],
    ['a subcolumn', { read: { conditions: [createReadCondition('guest.size', 'c')] } }],
  ])('is not proposed for %s', (_what, differing) => {
    expect(proposeSkipIndexes(createAdviceSubject(differing))).toEqual([])
  })
})

describe('a projection', () => {
  it('saves the granules without a match, except one per part', () => {
    const [proposal] = proposeProjections(createAdviceSubject())
    expect(proposal?.ddl).toContain('ADD PROJECTION by_guest (SELECT `guest`, `note` ORDER BY `guest`)')
    expect(savingsOf(proposal, { rows: 1_000_000, matchingRows: 5_000, matchingGranules: 900 })).toEqual({
      marksBefore: 1_000,
      marksAfter: 7,
      bytesBefore: 90_000,
      bytesAfter: 630,
    })
  })

  it.each([
    ['1000 groups', 1_000, 2],
    ['as many groups as rows', 1_000_000, undefined],
  ])('with groups is evaluated for %s: %d groups, %s marks', (_what, groups, marksAfter) => {
    const grouping = { keys: ['`day`'], aggregates: ['sum(`guest`)'], hasValues: false }
    const [proposal] = proposeProjections(createAdviceSubject({ read: { grouping, conditions: [] } }))
    expect(proposal?.ddl).toContain('ADD PROJECTION grouped (SELECT `day`, sum(`guest`) GROUP BY `day`)')
    const counted = { groups, matchingGroups: groups, matchingRows: 1_000_000 }
    expect(proposal?.test.by === 'groups' ? proposal.test.savings(counted)?.marksAfter : null).toBe(marksAfter)
  })

  it.each([
    ['an engine that replaces rows', { overview: { engine: 'ReplacingMergeTree' } }],
    ['FINAL', { read: { isFinal: true } }],
    ['an existing projection', { projections: [projectionOf('SELECT guest, note ORDER BY guest')] }],
  ])('is not proposed for %s', (_what, differing) => {
    expect(proposeProjections(createAdviceSubject(differing))).toEqual([])
  })
})

describe('a materialized view', () => {
  const grouping = { keys: ['`day`'], aggregates: ['sum(`guest`)', 'quantile(0.9)(`id`)'], hasValues: false }

  it('stores aggregate states by group and filter columns', () => {
    const [proposal] = proposeMaterializedViews(
      createAdviceSubject({ read: { grouping, columns: [{ name: 'guest', sql: '`guest`' }] } }),
    )
    expect(proposal?.ddl?.split(';\n')[0]).toBe(
      'CREATE MATERIALIZED VIEW `cafe`.`orders_groups` ENGINE = AggregatingMergeTree ORDER BY (key_1, key_2) SETTINGS allow_nullable_key = 1 AS SELECT `day` AS key_1, `guest` AS key_2, sumState(`guest`) AS state_1, quantileState(0.9)(`id`) AS state_2 FROM `cafe`.`orders` GROUP BY key_1, key_2',
    )
  })

  it.each([
    ['a query without groups', { grouping: null }],
    ['one of several tables', { grouping, isAlone: false }],
    ['FINAL', { grouping, isFinal: true }],
  ])('is not proposed for %s', (_what, read) => {
    expect(proposeMaterializedViews(createAdviceSubject({ read }))).toEqual([])
  })

  it.each([
    [1_000, 1],
    [20_000, undefined],
  ])('with %d groups reads %s marks', (groups, marks) => {
    const [proposal] = proposeMaterializedViews(createAdviceSubject({ read: { grouping, conditions: [] } }))
    const counted = { groups, matchingGroups: 0, matchingRows: 0 }
    expect(proposal?.test.by === 'groups' ? proposal.test.savings(counted)?.marksAfter : null).toBe(marks)
  })
})

describe('a partition key', () => {
  const read = { columns: [{ name: 'day', sql: '`day`' }], conditions: [inMarch] }

  it('copies the table with the same engine', () => {
    const [proposal] = proposePartitionKeys(createAdviceSubject({ read }))
    expect(proposal?.ddl?.split(';\n')).toEqual([
      'CREATE TABLE `cafe`.`orders_partitioned` AS `cafe`.`orders` ENGINE = MergeTree PARTITION BY toYYYYMM(`day`) ORDER BY id SETTINGS index_granularity = 1000',
      'INSERT INTO `cafe`.`orders_partitioned` SELECT * FROM `cafe`.`orders`',
      'EXCHANGE TABLES `cafe`.`orders_partitioned` AND `cafe`.`orders`',
    ])
  })

  it.each([
    ['12 months', 12, 84],
    ['one month', 1, undefined],
    ['more months than one insert allows', 101, undefined],
  ])('is evaluated for %s: %d groups, %s marks', (_what, groups, marksAfter) => {
    const [proposal] = proposePartitionKeys(createAdviceSubject({ read }))
    const counted = { groups, matchingGroups: 1, matchingRows: 83_334 }
    expect(proposal?.test.by === 'groups' ? proposal.test.savings(counted)?.marksAfter : null).toBe(marksAfter)
  })

  it.each([
    ['a partitioned table', { overview: { partitionKey: 'kind' } }],
    ['a table ordered by time', { overview: { sortingKey: 'day' } }],
    ['an engine that replaces rows only within a partition', { overview: { engine: 'ReplacingMergeTree' } }],
  ])('is not proposed for %s', (_what, differing) => {
    expect(proposePartitionKeys(createAdviceSubject({ read, ...differing }))).toEqual([])
  })
})

describe('PREWHERE', () => {
  const final = { isFinal: true, hasPrewhere: false }

  it('reads the other columns only in granules with a match', () => {
    const [proposal] = proposePrewhere(createAdviceSubject({ read: final, overview: replacing }))
    expect(proposal?.rewritten).toBe('SELECT note\nFROM cafe.orders\nPREWHERE (`guest` = 7)\nWHERE guest = 7')
    expect(savingsOf(proposal, { rows: 1_000_000, matchingRows: 10, matchingGranules: 10 })).toEqual({
      marksBefore: 1_000,
      marksAfter: 10,
      bytesBefore: 90_000,
      bytesAfter: 10_800,
    })
  })

  it.each([
    ['if the host applies it automatically', { read: { hasPrewhere: true } }],
    ['with FINAL for a column outside the sorting key', { read: final }],
    [
      'with FINAL for a column inside an expression of the sorting key',
      { read: final, overview: { sortingKey: 'id, f(id, guest)' } },
    ],
    ['without other columns', { read: { hasPrewhere: false, columns: [{ name: 'guest', sql: '`guest`' }] } }],
    ['in a query with several SELECTs', { read: { hasPrewhere: false, isAlone: false } }],
    [
      'if the query already has one',
      { read: { hasPrewhere: false }, statement: { formatted: 'SELECT 1\nPREWHERE a\nWHERE b', database: undefined } },
    ],
    [
      'if the host cannot format the query',
      { read: { hasPrewhere: false }, statement: { formatted: null, database: undefined } },
    ],
  ])('is not proposed %s', (_what, differing) => {
    expect(purposes(proposePrewhere(createAdviceSubject(differing)))).toEqual([])
  })
})

const savingsOf = (
  proposal: Proposal | undefined,
  counted: { rows: number; matchingRows: number; matchingGranules: number },
) => (proposal?.test.by === 'matches' ? proposal.test.savings(counted) : undefined)

function index(expression: string) {
  const sizes = { compressedBytes: 0, uncompressedBytes: 0, marksBytes: 0 }
  return { name: 'one', type: 'set', typeFull: 'set(0)', expression, granularity: 1, ...sizes }
}

function projectionOf(definition: string) {
  return { name: 'one', type: 'Normal', definition, parts: 1, rows: 1, compressedBytes: 0, uncompressedBytes: 0 }
}
