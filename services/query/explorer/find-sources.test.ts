import { describe, expect, it } from 'vitest'
import { parseEngineArguments, findSources, findViewTarget } from './dependencies.ts'

const named = (select: string): string[] =>
  findSources(select).map(
    ({ database, table, isCertain }) => `${database ?? '?'}.${table}${isCertain ? '' : ' perhaps'}`,
  )

describe('the tables that a stored SELECT reads', () => {
  it.each([
    ["SELECT * FROM shop.orders WHERE status = 'FROM a.b'", ['shop.orders']],
    [
      'SELECT * FROM shop.orders AS o, shop.customers LEFT JOIN a.b ON o.x = b.y',
      ['shop.orders', 'shop.customers', 'a.b'],
    ],
    ['SELECT a, b FROM (SELECT a, b FROM x.y UNION ALL SELECT c, d FROM x.z) AS s, q.r', ['x.y', 'x.z', 'q.r']],
    ['WITH c AS (SELECT 1 FROM x.y) SELECT * FROM c JOIN x.z USING id', ['x.y', 'x.z']],
    ['SELECT * FROM `odd-db.x`.`ta\\`ble`', ['odd-db.x.ta`ble']],
    ['SELECT id FROM x.y WHERE id IN (SELECT id FROM x.z) AND id IN x.w', ['x.y', 'x.z', 'x.w perhaps']],
    ['SELECT extract(DAY FROM d) FROM x.y', ['?.d perhaps', 'x.y']],
    ['SELECT n FROM x.y ARRAY JOIN list AS n, other', ['x.y']],
    ['SELECT * FROM numbers(10)', []],
    ['SELECT * FROM plain', ['?.plain']],
    ["SELECT 'not closed", []],
  ])('%s', (select, expected) => {
    expect(named(select)).toEqual(expected)
  })
})

describe('the target of a materialized view', () => {
  it.each([
    ['CREATE MATERIALIZED VIEW a.v TO a.t (`x` Int8) AS SELECT x FROM a.s', { database: 'a', table: 't' }],
    ['CREATE MATERIALIZED VIEW a.v REFRESH EVERY 1 DAY TO a.t AS SELECT 1', { database: 'a', table: 't' }],
    ['CREATE MATERIALIZED VIEW a.v (`to` Int8) ENGINE = Memory AS SELECT 1 AS to', undefined],
    ['CREATE MATERIALIZED VIEW a.v ENGINE = Memory AS SELECT interval TO x', undefined],
  ])('%s', (create, expected) => {
    expect(findViewTarget(create)).toEqual(expected)
  })
})

describe('the arguments of an engine', () => {
  it.each([
    ["Distributed('main', 'shop', 'orders', rand())", ['main', 'shop', 'orders', 'rand']],
    ['Distributed(main, shop, orders)', ['main', 'shop', 'orders']],
    ["Merge('shop', '^a\\\\d')", ['shop', '^a\\d']],
    ["Merge(REGEXP('^s'), '^o')", ['~^s', '^o']],
    ["Buffer('shop', 'orders', 1, 10, 100)", ['shop', 'orders', '1', '10', '100']],
    ['MergeTree ORDER BY id', []],
  ])('%s', (engineFull, expected) => {
    expect(parseEngineArguments(engineFull).map(({ text, isPattern }) => `${isPattern ? '~' : ''}${text}`)).toEqual(
      expected,
    )
  })
})
