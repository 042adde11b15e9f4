import { describe, expect, it } from 'vitest'
import { TableInfo } from '#proto/catalogue.ts'
import { TableQuery } from '#proto/http/parameters.ts'
import { isNumeric, toCell, type CellContext } from './cell.ts'
import {
  defaultPageSize,
  getNextSort,
  getFilterOperators,
  readTableState,
  describeRowRange,
  toExportQuery,
  toTableQuery,
  writePosition,
  writeCondition,
} from './table-state.ts'

const read = (search: string) => readTableState(new URLSearchParams(search))

describe('table state in the URL', () => {
  it('reads sort, filters, search, limit and columns', () => {
    expect(
      read('sort=elapsed.desc&filter=user.eq.app&filter=query.contains.a.b&search=x&limit=100&columns=a,b'),
    ).toEqual({
      sort: { column: 'elapsed', direction: 'desc' },
      conditions: [
        { column: 'user', operator: 'eq', value: 'app' },
        { column: 'query', operator: 'contains', value: 'a.b' },
      ],
      search: 'x',
      limit: 100,
      offset: 0,
      cursor: null,
      added: ['a', 'b'],
    })
  })

  it('ignores invalid parameters', () => {
    expect(read('sort=elapsed&filter=user.like.x&limit=7')).toEqual({
      sort: null,
      conditions: [],
      search: '',
      limit: defaultPageSize,
      offset: 0,
      cursor: null,
      added: [],
    })
  })

  it('builds the API query', () => {
    const state = read('sort=elapsed.desc&filter=user.in.a,b&search=x')
    const range = { kind: 'between', from: 1_700_000_000, to: 1_700_003_600 } as const
    const query = toTableQuery(state, { user: 'ada' }, { timezone: 'UTC', range })
    const { filter, ...single } = Object.fromEntries(query)
    const parsed = TableQuery.parse({ ...single, filter: [filter] })
    expect(parsed).toMatchObject({
      sort: { column: 'elapsed', direction: 'desc' },
      filter: [{ column: 'user', operator: 'in', values: ['a', 'b'] }],
      search: 'x',
      limit: defaultPageSize,
      user: 'ada',
      from: 1_700_000_000,
      to: 1_700_003_600,
    })
  })

  it('exports all rows regardless of the page', () => {
    const range = { kind: 'last', minutes: 360 } as const
    const query = toTableQuery(read('sort=a.asc&limit=100&offset=200'), {}, { timezone: 'UTC', range })
    expect(query.get('offset')).toBe('200')
    const file = TableQuery.parse(Object.fromEntries(toExportQuery(query, 'tsv')))
    expect(file).toMatchObject({
      format: 'tsv',
      lastMinutes: 360,
      sort: { column: 'a', direction: 'asc' },
      timezone: 'UTC',
    })
    expect([file.limit, file.offset]).toEqual([undefined, undefined])
  })

  it('selects a page by its cursor, otherwise by its offset', () => {
    const pages = [writePosition(0, 'b25l'), writePosition(250), writePosition(500, 'dHdv')]
    expect(pages).toEqual([null, '250', '500.dHdv'])
    const queries = pages.map((offset) => {
      const state = read(offset === null ? '' : `offset=${offset}`)
      return toTableQuery(state, {}, { timezone: 'UTC', range: null }).toString()
    })
    expect(queries).toEqual([
      `limit=${defaultPageSize}&timezone=UTC`,
      `limit=${defaultPageSize}&timezone=UTC&offset=250`,
      `limit=${defaultPageSize}&timezone=UTC&cursor=dHdv`,
    ])
    expect(read('offset=500.dHdv')).toMatchObject({ offset: 500, cursor: 'dHdv' })
    expect(read('offset=x.dHdv')).toMatchObject({ offset: 0, cursor: null })
  })

  it.each([
    [0, 1, null, '1 row'],
    [0, 500, null, '500 rows'],
    [0, 12, 12, '12 rows'],
    [0, 500, 1200, 'Rows 1–500 of 1200'],
    [500, 500, null, 'Rows 501–1000'],
    [1000, 200, 1200, 'Rows 1001–1200 of 1200'],
    [2000, 0, 1200, 'No more rows; 1200 in total'],
  ])('describes rows after offset %i, count %i, total %s', (offset, rows, total, sentence) => {
    expect(describeRowRange(offset, rows, total, String)).toBe(sentence)
  })

  it('offers operators by column type', () => {
    expect(getFilterOperators('text', false)).toEqual(['eq', 'ne', 'contains', 'notContains', 'in', 'notIn'])
    expect(getFilterOperators('number', true)).toEqual(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'between', 'in', 'notIn'])
    expect(getFilterOperators('time', true)).toContain('withinHours')
  })

  it('cycles from descending to ascending to default', () => {
    const first = getNextSort(null, 'a')
    const second = getNextSort(first, 'a')
    expect([first, second, getNextSort(second, 'a')]).toEqual([
      { column: 'a', direction: 'desc' },
      { column: 'a', direction: 'asc' },
      null,
    ])
    expect(getNextSort(first, 'b')).toEqual({ column: 'b', direction: 'desc' })
  })

  it('round-trips a condition', () => {
    const condition = { column: 'query', operator: 'contains', value: 'a.b, c' } as const
    expect(read(new URLSearchParams({ filter: writeCondition(condition) }).toString()).conditions).toEqual([condition])
  })
})

describe('cells', () => {
  const context: CellContext = { zone: 'UTC', nowMs: 120_000, link: (path) => `${path}?host=0` }
  const column = (format: string, more = {}) => TableInfo.shape.columns.element.parse({ name: 'c', format, ...more })
  const cell = (format: string, value: unknown, more = {}) => toCell(column(format, more), { c: value }, context)

  it.each([
    ['bytes', 2048, '2 KiB'],
    ['rows', '1500000', '1.5M'],
    ['duration-ms', 12.4, '12.4 ms'],
    ['percent', 5, '5%'],
    ['time', 60_000, '01 Jan 1970 00:01:00'],
    ['relative-time', 60_000, '1m ago'],
    ['time', 0, 'never'],
    ['boolean', 1, 'Yes'],
    ['boolean', 'false', 'No'],
    ['boolean', false, 'No'],
    ['boolean', '0', 'No'],
    ['list', ['a', 'b'], 'a, b'],
    ['text', { a: 1 }, '{"a":1}'],
    ['number', 'inf', 'inf'],
    ['text', '', '–'],
    ['bytes', null, '–'],
  ])('shows %s %j as "%s"', (format, value, text) => expect(cell(format, value).text).toBe(text))

  it('fills link paths from the row', () => {
    const made = toCell(column('link', { href: '/tables/parts/{c}' }), { c: 'a b' }, context)
    expect(made).toEqual({ text: 'a b', title: 'a b', href: '/tables/parts/a%20b?host=0' })
  })

  it('right-aligns numbers only', () => {
    expect([isNumeric(column('bytes')), isNumeric(column('text'))]).toEqual([true, false])
  })
})
