import { describe, expect, it } from 'vitest'
import { TableDefinition } from '#proto/catalogue.ts'
import type { ColumnFilter } from '#proto/query.ts'
import {
  type TableSelection,
  buildFilterOptionsStatement,
  buildTableStatement,
  buildTotalStatement,
} from './table-statement.ts'

const table = {
  name: 'things',
  topic: 'x',
  ...TableDefinition.parse({
    title: 'T',
    doc: 'D.',
    feature: 'TABLES',
    sort: { column: 'size', direction: 'desc' },
    parameters: [{ name: 'last_hours', type: 'UInt16', default: 24, doc: 'D' }],
    columns: [
      { name: 'name' },
      { name: 'size', format: 'bytes' },
      { name: 'seen', format: 'time' },
      { name: 'broken', format: 'boolean' },
      { name: 'tags', format: 'list' },
      { name: 'odd `name\\' },
    ],
    sql: 'SELECT * FROM t WHERE time > $since',
  }),
}
const circumstances = { serverVersion: '25.8', logs: new Map<string, string>(), limit: 100, zone: undefined }
const statementFor = (request: Partial<TableSelection> = {}) =>
  buildTableStatement(
    table,
    { filters: [], offset: 0, parameters: {}, search: undefined, sort: undefined, ...request },
    circumstances,
  )
const filtered = (column: string, operator: ColumnFilter['operator'], ...values: string[]) => {
  const { sql, parameters } = statementFor({ filters: [{ column, operator, values }] }) ?? { sql: '' }
  return { where: /WHERE ([^\n]*)\nORDER/.exec(sql)?.[1], parameters }
}

describe('a table page', () => {
  it('selects one extra row in a total order', () => {
    expect(statementFor()?.sql).toBe(
      [
        'SELECT `name`, `size`, `seen`, `broken`, `tags`, `odd \\`name\\\\`',
        'FROM (',
        'SELECT * FROM t WHERE time > (now() - toIntervalHour({last_hours:UInt16}))',
        ')',
        'ORDER BY `size` DESC NULLS LAST, `name`, `seen`, `broken`, `tags`, `odd \\`name\\\\`',
        'LIMIT 101',
      ].join('\n'),
    )
    expect(statementFor()?.parameters).toEqual({ last_hours: 24 })
  })

  it.each([
    [{ lastMinutes: 15 }, '(now() - toIntervalMinute(15))', '(now() + 1)', 24],
    [{ lastHours: 6 }, '(now() - toIntervalHour({last_hours:UInt16}))', '(now() + 1)', 6],
    [{ from: 1_700_000_000, to: 1_700_003_600, lastHours: 6 }, 'toDateTime(1700000000)', 'toDateTime(1700003600)', 6],
    [{ from: 1_700_000_000 }, 'toDateTime(1700000000)', '(now() + 1)', 24],
    [
      { to: 1_700_003_600, parameters: { last_hours: 2 } },
      '(toDateTime(1700003600) - toIntervalHour({last_hours:UInt16}))',
      'toDateTime(1700003600)',
      2,
    ],
  ])('with a window applies %j', (request, since, until, hours) => {
    const both = { ...table, sql: 'SELECT $since, $until' }
    const none = { filters: [], offset: 0, parameters: {}, search: undefined, sort: undefined }
    const statement = buildTableStatement(both, { ...none, ...request }, circumstances)
    expect(statement?.sql).toContain(`SELECT ${since}, ${until}\n`)
    expect(statement?.parameters).toEqual({ last_hours: hours })
  })

  it('rejects a time range on a page of the current state, and names the parameter', () => {
    const present = { ...table, parameters: [], sql: 'SELECT 1' }
    const request = { filters: [], offset: 0, parameters: {}, search: undefined, sort: undefined, to: 5 }
    expect(() => buildTableStatement(present, request, circumstances)).toThrow(
      expect.objectContaining({ code: 'invalid', details: { parameter: 'to' } }),
    )
  })

  it('of a log that is sorted by time finds the time of its last row first, unless a condition reads texts', () => {
    const log = { ...table, key: ['name'], logTime: 'seen', sort: { column: 'seen', direction: 'desc' as const } }
    const none = { filters: [], offset: 20, parameters: {}, search: undefined, sort: undefined }
    const statement = buildTableStatement(log, none, circumstances)
    expect(statement?.sql).toMatch(
      /WHERE event_time >= \(SELECT minOrNull\(event_time\) FROM \(\nSELECT event_time\nFROM \([^]+\)\nORDER BY event_date DESC, event_time DESC LIMIT 121\n\)\)\nORDER BY `seen` DESC NULLS LAST, `name`\nLIMIT 101\nOFFSET 20$/,
    )
    expect(statement?.limits).toEqual({ max_threads: 1 })
    const others = [{ search: 'x' }, { sort: { column: 'size', direction: 'asc' as const } }]
    for (const other of others)
      expect(buildTableStatement(log, { ...none, ...other }, circumstances)?.sql).not.toContain('event_time')
  })

  it('sorts by a declared column only, and skips rows', () => {
    expect(statementFor({ sort: { column: 'name', direction: 'asc' }, offset: 200 })?.sql).toMatch(
      /ORDER BY `name` ASC NULLS LAST, `size`, [^\n]+\nLIMIT 101\nOFFSET 200$/,
    )
    expect(() => statementFor({ sort: { column: 'size` DESC; DROP', direction: 'asc' } })).toThrow(/unknown column/)
  })

  it.each([
    ['name', 'eq', ["it's"], "ifNull(toString(`name`), '') = {filter_0_0:String}", { filter_0_0: "it's" }],
    [
      'name',
      'in',
      ['a', 'b'],
      "ifNull(toString(`name`), '') IN ({filter_0_0:String}, {filter_0_1:String})",
      { filter_0_0: 'a', filter_0_1: 'b' },
    ],
    ['size', 'ge', ['1e6'], 'toFloat64(`size`) >= {filter_0_0:Float64}', { filter_0_0: 1_000_000 }],
    [
      'seen',
      'lt',
      ['2026-01-01T00:00:00Z'],
      'toFloat64(`seen`) < {filter_0_0:Float64}',
      { filter_0_0: 1_767_225_600_000 },
    ],
    ['broken', 'eq', ['true'], 'toFloat64(`broken`) = {filter_0_0:Float64}', { filter_0_0: 1 }],
    [
      'tags',
      'eq',
      ['x'],
      'hasAny(arrayMap(item -> toString(item), `tags`), [{filter_0_0:String}])',
      { filter_0_0: 'x' },
    ],
    [
      'size',
      'contains',
      ['12'],
      "(positionCaseInsensitiveUTF8(ifNull(toString(`size`), ''), {filter_0_0:String}) > 0)",
      { filter_0_0: '12' },
    ],
    [
      'tags',
      'contains',
      ["'"],
      String.raw`(positionCaseInsensitiveUTF8(arrayStringConcat(arrayMap(item -> ifNull(toString(item), ''), ${'`tags`'}), '\n'), {filter_0_0:String}) > 0)`,
      { filter_0_0: "'" },
    ],
    [
      'name',
      'notContains',
      ['a'],
      "NOT (positionCaseInsensitiveUTF8(ifNull(toString(`name`), ''), {filter_0_0:String}) > 0)",
      { filter_0_0: 'a' },
    ],
    [
      'size',
      'notIn',
      ['1', '2'],
      'NOT toFloat64(`size`) IN ({filter_0_0:Float64}, {filter_0_1:Float64})',
      { filter_0_0: 1, filter_0_1: 2 },
    ],
    [
      'tags',
      'ne',
      ['x'],
      'NOT hasAny(arrayMap(item -> toString(item), `tags`), [{filter_0_0:String}])',
      { filter_0_0: 'x' },
    ],
    [
      'size',
      'between',
      ['1', '2'],
      'toFloat64(`size`) BETWEEN {filter_0_0:Float64} AND {filter_0_1:Float64}',
      { filter_0_0: 1, filter_0_1: 2 },
    ],
    [
      'seen',
      'withinHours',
      ['1.5'],
      'toFloat64(`seen`) >= toUnixTimestamp64Milli(now64(3)) - {filter_0_0:Float64} * 3600000',
      { filter_0_0: 1.5 },
    ],
  ] as const)('filters %s %s %j with bound values', (column, operator, values, where, parameters) => {
    expect(filtered(column, operator, ...values)).toEqual({ where, parameters: { last_hours: 24, ...parameters } })
  })

  it('counts and lists values within the same filters', () => {
    const request = { filters: [], parameters: {}, search: 'x' }
    const from = [
      'FROM (',
      'SELECT * FROM t WHERE time > (now() - toIntervalHour({last_hours:UInt16}))',
      ')',
      "WHERE (positionCaseInsensitiveUTF8(ifNull(toString(`name`), ''), {search:String}) > 0",
    ].join('\n')
    expect(buildTotalStatement(table, request, circumstances)?.sql).toContain(`SELECT count() AS total\n${from}`)
    const options = buildFilterOptionsStatement(table, { ...request, column: 'tags', limit: 5 }, circumstances)
    expect(options?.sql).toContain(
      `SELECT ifNull(toString(arrayJoin(\`tags\`)), '') AS filter_option, count() AS filter_option_rows\n${from}`,
    )
    expect(options?.sql).toMatch(/LIMIT 6$/)
    expect(options?.parameters).toEqual({ last_hours: 24, search: 'x' })
    expect(() => buildFilterOptionsStatement(table, { ...request, column: 'nope', limit: 5 }, circumstances)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ parameter: 'column' }) }),
    )
  })

  it('searches the text columns', () => {
    const statement = statementFor({ search: '50%' })
    expect(statement?.sql.match(/\{search:String\}/g)).toHaveLength(3)
    expect(statement?.parameters).toMatchObject({ search: '50%' })
  })

  it.each([
    [
      'an unknown column',
      { filters: [{ column: 'nope', operator: 'eq', values: ['1'] }] },
      /unknown column "nope"; allowed: name, size/,
    ],
    ['a word for a number', { filters: [{ column: 'size', operator: 'eq', values: ['big'] }] }, /size needs a number/],
    [
      'a time without its offset',
      { filters: [{ column: 'seen', operator: 'ge', values: ['2026-01-01 00:00:00'] }] },
      /seen needs epoch milliseconds/,
    ],
    ['two values for one', { filters: [{ column: 'size', operator: 'ge', values: ['1', '2'] }] }, /takes one value/],
    ['one end of a range', { filters: [{ column: 'size', operator: 'between', values: ['1'] }] }, /takes two values/],
    [
      'hours of what is no instant',
      { filters: [{ column: 'size', operator: 'withinHours', values: ['1'] }] },
      /requires a time column/,
    ],
    [
      'hours without end',
      { filters: [{ column: 'seen', operator: 'withinHours', values: ['9700'] }] },
      /needs a number of hours up to 9600/,
    ],
    ['a span of time that ends before it begins', { from: 2, to: 1 }, /from must be before to/],
    ['more than 400 days', { from: 1, to: 40_000_000 }, /at most 9600 hours apart/],
    ['an unknown parameter', { parameters: { last_days: 1 } }, /unknown parameter "last_days"; allowed: last_hours/],
    [
      'a parameter out of its type',
      { parameters: { last_hours: -1 } },
      /last_hours must be a whole number from 0 to 65535/,
    ],
    ['a parameter that is no number', { parameters: { last_hours: '1; DROP' } }, /last_hours must be a whole number/],
  ] as const)('rejects %s with a reason', (_, request, sentence) => {
    // The cast removes the `readonly` that `as const` adds to the cases.
    expect(() => statementFor(structuredClone(request) as Partial<TableSelection>)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringMatching(sentence) }),
    )
  })
})
