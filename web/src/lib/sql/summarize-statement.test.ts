import { describe, expect, it } from 'vitest'
import { summarizeStatement, summarizeStatements } from './summarize-statement.ts'

const columns = 'order_id, customer_id, amount, currency, created_at, updated_at, status, region, channel'

describe('the summary of a statement', () => {
  it.each([
    ['SELECT 1', 'SELECT 1'],
    ['SELECT  a,\n  b\nFROM t', 'SELECT a, b FROM t'],
    [`SELECT ${columns} FROM shop.orders WHERE id = 7`, 'SELECT … FROM shop.orders WHERE id = 7'],
    [
      `SELECT ${columns} FROM shop.orders AS o LEFT JOIN shop.customers AS c ON o.customer_id = c.id GROUP BY region LIMIT 5`,
      'SELECT … FROM shop.orders AS o LEFT JOIN shop.customers AS c GROUP BY region LIMIT 5',
    ],
    [
      `SELECT count() FROM (SELECT ${columns} FROM shop.orders WHERE x IN (1, 2)) AS inner_query WHERE 1`,
      'SELECT count() FROM (SELECT … FROM shop.orders WHERE x IN (1, 2)) AS inner_query WHERE 1',
    ],
    [`WITH totals AS (SELECT 1 FROM hidden) SELECT ${columns} FROM totals`, 'WITH … SELECT … FROM totals'],
    [
      `INSERT INTO shop.orders (${columns}) SELECT ${columns} FROM staging`,
      'INSERT INTO shop.orders (…) SELECT … FROM staging',
    ],
    [`INSERT INTO shop.orders (${columns}) VALUES (1, 2)`, 'INSERT INTO shop.orders (…) VALUES …'],
    [`SELECT 'a FROM b' AS text, ${columns} /* FROM c */ FROM d -- FROM e`, 'SELECT … FROM d'],
    [
      `SELECT extract(day FROM created_at), ${columns} FROM shop.orders SETTINGS max_threads = 1 FORMAT JSON`,
      'SELECT … FROM shop.orders',
    ],
  ])('%j is %j', (statement, expected) => {
    expect(summarizeStatement(statement)).toBe(expected)
  })

  it('is short for texts of any kind', () => {
    const texts = [
      '('.repeat(5_000),
      `SELECT ${"'".repeat(5_001)}`,
      `SELECT * FROM ${'('.repeat(900)}`,
      'x'.repeat(9_000),
      '',
    ]
    for (const text of texts) expect(summarizeStatement(text).length).toBeLessThanOrEqual(240)
  })
})

describe('the summaries of a list', () => {
  const listOf = (...statements: string[]) => [...summarizeStatements(statements).values()]

  it('consist of the first table and the difference if their beginnings are equal', () => {
    expect(
      listOf(
        'SELECT count() FROM shop.orders AS a CROSS JOIN shop.customers AS b WHERE a.amount > b.id',
        'SELECT count() FROM shop.orders AS a CROSS JOIN shop.orders AS b WHERE a.amount > b.id',
      ),
    ).toEqual([
      'SELECT shop.orders … shop.customers AS b WHERE a.amount > b.id',
      'SELECT shop.orders … shop.orders AS b WHERE a.amount > b.id',
    ])
  })

  it('begin with the difference if it is before the first table', () => {
    const [one, other] = listOf(
      `SELECT ${columns}, sum(price) FROM shop.orders`,
      `SELECT ${columns}, avg(price) FROM shop.orders`,
    )
    expect(one).toBe('…sum(price) FROM shop.orders · SELECT … FROM shop.orders')
    expect(other).toBe('…avg(price) FROM shop.orders · SELECT … FROM shop.orders')
  })

  it('have one entry for equal statements, and different beginnings for all others', () => {
    const statements = Array.from(
      { length: 50 },
      (_, n) => `SELECT ${columns} FROM shop.orders WHERE region = 'west' AND id = ${n}`,
    )
    const summaries = listOf(...statements, ...statements)
    expect(summaries).toHaveLength(50)
    expect(new Set(summaries.map((summary) => summary.slice(0, 48))).size).toBe(50)
  })
})
