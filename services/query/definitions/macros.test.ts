import { describe, expect, it } from 'vitest'
import { watchhouseProcessCondition, watchhouseStatementCondition } from '#shared/sql/statement-text.ts'
import { buildRotatedLogExpressions } from '../clickhouse/capabilities.ts'
import { expandMacros, type MacroScope } from './macros.ts'

const scope: MacroScope = {
  window: { interval: 'toStartOfHour', since: 'S', until: 'U' },
  zone: undefined,
  logs: buildRotatedLogExpressions(new Set(['query_log', 'query_log_0', 'query_log_extra', 'part_log'])),
}

describe('a macro', () => {
  it.each([
    ['SELECT 1', 'SELECT 1'],
    ['$since .. $until', 'S .. U'],
    ['$window', 'event_date >= toDate(S) AND event_date <= toDate(U) AND event_time >= S AND event_time < U'],
    ['$bucket(event_time) AS time', 'toStartOfHour(event_time) AS time'],
    ['$bucket(toDateTime(f(x), (1)))', 'toStartOfHour(toDateTime(f(x), (1)))'],
    ['$clock(event_time) AS at', 'toString(event_time) AS at'],
    ['$day(event_time) AS day', 'toString(toDate(event_time)) AS day'],
    ['count() / $seconds', 'count() / 3600'],
    ['$ms($since)', 'toUnixTimestamp64Milli(toDateTime64(S, 3))'],
    ['FROM $log(part_log)', 'FROM system.part_log'],
    ['FROM $log(query_log)', String.raw`FROM merge('system', '^query_log(_\\d+)?$')`],
    ['NOT $own', `NOT ${watchhouseStatementCondition}`],
    ['NOT $ownprocess', `NOT ${watchhouseProcessCondition}`],
    ["match(name, '^a$')", "match(name, '^a$')"],
  ])('turns %j into %j', (sql, expanded) => {
    expect(expandMacros(sql, scope)).toBe(expanded)
  })

  it('limits running queries to windows that include the present', () => {
    expect(expandMacros('SELECT 1 FROM $running', scope)).toMatch(
      /FROM system\.processes\s+WHERE is_initial_query AND query_id != queryID\(\) AND now\(\) >= S AND now\(\) < U/,
    )
  })

  it('uses the requested time zone', () => {
    expect(expandMacros('$bucket(t)', { ...scope, zone: 'Europe/Berlin' })).toBe("toStartOfHour(t, 'Europe/Berlin')")
    expect(expandMacros('$clock(t)', { ...scope, zone: 'Asia/Tokyo' })).toBe("toString(t, 'Asia/Tokyo')")
    expect(expandMacros('$day(t)', { ...scope, zone: 'Asia/Tokyo' })).toBe("toString(toDate(t, 'Asia/Tokyo'))")
    const monthly: MacroScope = {
      ...scope,
      zone: 'Asia/Tokyo',
      window: { interval: 'toStartOfMonth', since: 'S', until: 'U' },
    }
    expect(expandMacros('$bucket(t)', monthly)).toBe("toDateTime(toStartOfMonth(t, 'Asia/Tokyo'), 'Asia/Tokyo')")
  })

  it.each([
    ['$unknown', /unknown macro "\$unknown"; allowed: \$log, \$since/],
    ['$bucket', /\$bucket needs an argument/],
    ['$ms(a', /\$ms needs an argument/],
    ['$log(system.query_log)', /invalid log table "system.query_log"/],
  ])('is refused as %j', (sql, sentence) => {
    expect(() => expandMacros(sql, scope)).toThrow(sentence)
  })

  it('throws without a time window', () => {
    expect(() => expandMacros('$since', { ...scope, window: undefined })).toThrow('no time window is defined')
    expect(() =>
      expandMacros('$bucket(t)', { ...scope, window: { interval: undefined, since: 'S', until: 'U' } }),
    ).toThrow('has no interval')
  })
})
