import { describe, expect, it } from 'vitest'
import { filterSettings, findMostCommonValue, type SettingFilter } from './setting-filter.ts'

const rows = [
  {
    table: 'server_settings',
    name: 'max_connections',
    values: { 0: '10', 1: '20' },
    hasDiff: true,
    changedFromDefault: true,
  },
  {
    table: 'settings',
    name: 'max_threads',
    values: { 0: 'auto', 1: 'auto' },
    hasDiff: false,
    changedFromDefault: true,
  },
  { table: 'settings', name: 'log_queries', values: { 0: '1', 1: null }, hasDiff: true, changedFromDefault: false },
] as const
const filter: SettingFilter = { scope: 'all', table: null, search: '' }

describe('filtered settings', () => {
  it.each([
    [{}, ['max_connections', 'max_threads', 'log_queries']],
    [{ scope: 'different' }, ['max_connections', 'log_queries']],
    [{ scope: 'changed' }, ['max_connections', 'max_threads']],
    [{ table: 'settings' }, ['max_threads', 'log_queries']],
    [{ search: ' MAX_' }, ['max_connections', 'max_threads']],
    [{ search: 'auto' }, ['max_threads']],
  ] as const)('with %j are %j', (changes, names) => {
    expect(filterSettings([...rows], { ...filter, ...changes }).map(({ name }) => name)).toEqual(names)
  })
})

it.each([
  [['a', 'a', 'b'], 'a'],
  [['a', 'b'], undefined],
  [['a', 'a'], 'a'],
  [[null, null, 'b'], null],
  [[], undefined],
])('the most common value of %j is %s', (values, usual) => expect(findMostCommonValue(values)).toBe(usual))
