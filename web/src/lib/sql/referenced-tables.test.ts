import { describe, expect, it } from 'vitest'
import { findReferencedTables, quoteIdentifier } from './referenced-tables.ts'

const reference = (table: string, database: string | null = null, alias: string | null = null) => ({
  database,
  table,
  alias,
})

describe('referencedTables', () => {
  it.each([
    ['SELECT 1', []],
    ['SELECT * FROM orders', [reference('orders')]],
    ['select * from shop.orders where id = 1', [reference('orders', 'shop')]],
    ['SELECT o. FROM shop.orders AS o', [reference('orders', 'shop', 'o')]],
    ['SELECT * FROM orders o FINAL', [reference('orders', null, 'o')]],
    ['SELECT * FROM orders FINAL', [reference('orders')]],
    ['SELECT * FROM a LEFT ANY JOIN `b b`.`c` AS d USING id', [reference('a'), reference('c', 'b b', 'd')]],
    ['SELECT * FROM numbers(10)', []],
    ['SELECT * FROM (SELECT 1 FROM inner_table)', [reference('inner_table')]],
    ['SELECT * FROM\n  a\n  PREWHERE x', [reference('a')]],
  ])('finds in %j: %j', (statement, found) => expect(findReferencedTables(statement)).toEqual(found))
})

it.each([
  ['orders', 'orders'],
  ['o d', '`o d`'],
  ['a`b', '`a\\`b`'],
  ['1st', '`1st`'],
])('quotes %s as %s', (name, text) => expect(quoteIdentifier(name)).toBe(text))
