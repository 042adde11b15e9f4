import { describe, expect, it } from 'vitest'
import { costOf, isHarmless } from './estimate.ts'

describe('a statement that may be analysed unasked', () => {
  it.each([
    ['SELECT 1', true],
    ['select * from t where x in (1, 2)', false],
    ['SELECT * FROM (SELECT 1)', false],
    ['WITH (SELECT 1) AS x SELECT x', false],
    ['SELECT selected FROM t', true],
    ['', false],
  ])('%j: %s', (sql, harmless) => expect(isHarmless(sql)).toBe(harmless))
})

describe('the cost of a statement', () => {
  const of = (table: string, rows: number) => ({ database: 'shop', table, rows, parts: 2, marks: 5 })

  it('names the one table that is read', () => {
    expect(costOf([of('orders', 1_500)])).toEqual({
      text: 'It would read up to 1,500 rows, 5 granules in 2 parts, of shop.orders.',
      isLarge: false,
    })
  })

  it('sums up several, and says when it is much', () => {
    expect(costOf([of('a', 90_000_000), of('b', 20_000_000)])).toEqual({
      text: 'It would read up to 110M rows, 10 granules in 4 parts, of 2 tables.',
      isLarge: true,
    })
  })

  it('may be nothing', () => expect(costOf([]).text).toBe('It would read no MergeTree table.'))
})
