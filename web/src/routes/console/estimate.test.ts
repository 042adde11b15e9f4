import { describe, expect, it } from 'vitest'
import { summarizeEstimates, hasNoSubquery } from './estimate.ts'

describe('hasNoSubquery', () => {
  it.each([
    ['SELECT 1', true],
    ['select * from t where x in (1, 2)', false],
    ['SELECT * FROM (SELECT 1)', false],
    ['WITH (SELECT 1) AS x SELECT x', false],
    ['SELECT selected FROM t', true],
    ['', false],
  ])('%j: %s', (sql, expected) => expect(hasNoSubquery(sql)).toBe(expected))
})

describe('statement cost', () => {
  const of = (table: string, rows: number) => ({ database: 'shop', table, rows, parts: 2, marks: 5 })

  it('names a single table', () => {
    expect(summarizeEstimates([of('orders', 1_500)])).toEqual({
      text: 'Reads up to 1,500 rows, 5 granules in 2 parts from shop.orders.',
      isLarge: false,
    })
  })

  it('sums up several tables and flags large reads', () => {
    expect(summarizeEstimates([of('a', 90_000_000), of('b', 20_000_000)])).toEqual({
      text: 'Reads up to 110M rows, 10 granules in 4 parts from 2 tables.',
      isLarge: true,
    })
  })

  it('may be empty', () => expect(summarizeEstimates([]).text).toBe('Reads no MergeTree tables.'))
})
