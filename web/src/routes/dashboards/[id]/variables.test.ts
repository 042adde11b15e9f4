import { describe, expect, it } from 'vitest'
import { DashboardVariable } from '#proto/dashboards.ts'
import {
  expandValues,
  fillParameters,
  listHostOptions,
  readVariableValues,
  fillFilters,
  resolveHost,
  selectValues,
  createLastHours,
  toTimeValues,
} from './variables.ts'

const hosts = [
  { id: 0, name: 'one', group: 'eu' },
  { id: 1, name: 'two', group: 'us' },
]
const host = DashboardVariable.options[0].parse({ kind: 'host', name: 'host', group: 'group' })
const table = DashboardVariable.parse({ kind: 'table', name: 'table', default: 'shop.orders' })
const list = DashboardVariable.parse({ kind: 'list', name: 'size', options: ['s', 'm'] })

describe('variables', () => {
  it('have the value of the URL, else their default', () => {
    const values = readVariableValues([host, table, list], new URLSearchParams('var-size=m&size=x'), 'one')
    expect(values).toEqual({ host: 'one', table: 'shop.orders', size: 'm' })
    expect(readVariableValues([list], new URLSearchParams(), 'one')).toEqual({ size: 's' })
  })

  it('offer the hosts of the selected group', () => {
    expect(listHostOptions(host, hosts, { group: 'us' })).toEqual(['two'])
    expect(listHostOptions(host, hosts, { group: '' })).toEqual(['one', 'two'])
  })

  it('select the host of a panel', () => {
    expect(resolveHost('', {}, hosts, 1)).toBe(1)
    expect(resolveHost('two', {}, hosts, 0)).toBe(1)
    expect(resolveHost('{host}', { host: 'two' }, hosts, 0)).toBe(1)
    expect(resolveHost('{host}', { host: '' }, hosts, 0)).toBe(0)
    expect(resolveHost('gone', {}, hosts, 0)).toBeUndefined()
  })

  it('of tables provide their parts, and statements receive only what they use', () => {
    const values = expandValues([table], { table: 'shop.orders.x' })
    expect(values).toEqual({ table: 'shop.orders.x', table_database: 'shop', table_name: 'orders.x' })
    expect(selectValues("SELECT {table_name}, '{table}' -- {host}", values)).toEqual({ table_name: 'orders.x' })
  })

  it('fill parameters that consist of a variable', () => {
    expect(fillParameters({ user: '{user}', text: 'a{user}' }, { user: 'ada' })).toEqual({
      user: 'ada',
      text: 'a{user}',
    })
  })

  it('have several values or all values, which the URL contains', () => {
    const users = DashboardVariable.parse({ kind: 'user', name: 'user', multi: true, includeAll: true })
    const read = (search: string) => readVariableValues([users], new URLSearchParams(search), 'one')
    expect(read('')).toEqual({ user: [] })
    expect(read('var-user=ada&var-user=bob&var-user=ada')).toEqual({ user: ['ada', 'bob'] })
    expect(read('var-user=ada&var-user=$__all')).toEqual({ user: [] })
    expect(expandValues([users], { user: ['ada'] })).toEqual({ user: ['ada'], user_all: '0' })
    expect(expandValues([users], { user: [] })).toEqual({ user: [], user_all: '1' })
    const single = { ...users, multi: false }
    expect(readVariableValues([single], new URLSearchParams('var-user=a&var-user=b'), '')).toEqual({ user: ['a'] })
    const several = { ...host, multi: true }
    expect(readVariableValues([several], new URLSearchParams('var-host=$__all'), 'one')).toEqual({ host: ['one'] })
    expect(listHostOptions(host, hosts, { group: ['us', 'eu'] })).toEqual(['one', 'two'])
    expect(listHostOptions(host, hosts, { group: [] })).toEqual(['one', 'two'])
  })

  it('of several values become lists in filters, and are left out for all values', () => {
    const filters = ['user.eq.{user}', 'user.ne.{user}', 'kind.eq.Select', 'query.contains.{text}']
    expect(fillFilters(filters, { user: ['ada', 'a,b'], text: 'x' })).toEqual([
      'user.in.ada,a\\,b',
      'user.notIn.ada,a\\,b',
      'kind.eq.Select',
      'query.contains.x',
    ])
    expect(fillFilters(filters, { user: [], text: '' })).toEqual(['kind.eq.Select'])
  })

  it('include the time range and a suitable bucket', () => {
    expect(toTimeValues({ kind: 'between', from: 0, to: 86_400 }, 0)).toEqual({
      from: '0',
      to: '86400',
      interval: '600',
    })
    const lastHour = createLastHours(1)
    expect(lastHour && toTimeValues(lastHour, 10_000_000)).toEqual({ from: '6401', to: '10001', interval: '30' })
  })
})
