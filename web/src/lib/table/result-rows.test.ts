import { describe, expect, it } from 'vitest'
import { toCell } from './cell.ts'
import { isDateType, isNumericType, unwrapType, toTableColumns, toTableRows } from './result-rows.ts'

describe('types', () => {
  it.each([
    ['UInt64', 'UInt64', true, false],
    ['Nullable(Float64)', 'Float64', true, false],
    ['LowCardinality(Nullable(String))', 'String', false, false],
    ['Decimal(18, 4)', 'Decimal(18, 4)', true, false],
    ["DateTime64(3, 'UTC')", "DateTime64(3, 'UTC')", false, true],
    ['Nullable(Date)', 'Date', false, true],
    ['Array(UInt8)', 'Array(UInt8)', false, false],
    ['IPv4', 'IPv4', false, false],
  ])('%s is a %s', (type, plain, number, instant) => {
    expect([unwrapType(type), isNumericType(type), isDateType(type)]).toEqual([plain, number, instant])
  })
})

it('distinguishes columns with equal names, and right-aligns numbers', () => {
  const columns = toTableColumns([
    { name: 'x', type: 'UInt8' },
    { name: 'x', type: 'String' },
  ])
  expect(columns.map(({ name, label, flushRight }) => [name, label, flushRight])).toEqual([
    ['c0', 'x', true],
    ['c1', 'x', false],
  ])
})

it('keeps null and empty values, and writes nested values as JSON', () => {
  const columns = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, type: 'String' }))
  expect(toTableRows({ columns, rows: [[null, '', [1, 'x'], true, 7]] })).toEqual([
    { c0: null, c1: '', c2: '[1,"x"]', c3: 'true', c4: 7 },
  ])
})

it.each([
  [null, { text: 'NULL', title: 'null', isAbsent: true }],
  ['', { text: "''", title: 'empty text', isAbsent: true }],
  ['NULL', { text: 'NULL', title: 'NULL' }],
  [0, { text: '0', title: '0' }],
])('distinguishes %j from equal text', (value, cell) => {
  const [column] = toTableColumns([{ name: 'x', type: 'Nullable(String)' }])
  expect(column && toCell(column, { c0: value }, { zone: 'UTC', nowMs: 0, link: String })).toEqual(cell)
})
