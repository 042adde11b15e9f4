import { expect, it } from 'vitest'
import { toExpressionSql } from './expression-sql.ts'

const constant = (value: string, type: string) => ({
  name: 'CONSTANT',
  description: `id: 4, constant_value: ${value}, constant_value_type: ${type}`,
  details: {},
  children: [],
})

it.each([
  ['Array_[UInt64_1, UInt64_2]', 'Array(UInt8)', '[1, 2]'],
  ['Tuple_(UInt64_1, Int64_-2)', 'Tuple(UInt8, Int8)', '(1, -2)'],
  [String.raw`Tuple_('a\', b', 'c)')`, 'Tuple(String, String)', String.raw`('a\', b', 'c)')`],
  ['UInt64_7', 'UInt8', '7'],
])('converts the constant %s, which older hosts return without its expression', (value, type, sql) => {
  expect(toExpressionSql(constant(value, type))).toBe(sql)
})

it.each([
  ['Array_[UInt64_1)', 'Array(UInt8)'],
  ['Array_[]', 'Array(Nothing)'],
  ['UInt64_20000', 'Date'],
])('returns undefined for %s of the type %s', (value, type) => {
  expect(toExpressionSql(constant(value, type))).toBeUndefined()
})
