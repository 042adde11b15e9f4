import { describe, expect, it } from 'vitest'
import type { DashboardVariable } from '#proto/dashboards.ts'
import {
  expandValues,
  fillParameters,
  listHostOptions,
  readVariableValues,
  resolveHost,
  selectValues,
  createLastHours,
  toTimeValues,
} from './variables.ts'

const hosts = [
  { id: 0, name: 'one', group: 'eu' },
  { id: 1, name: 'two', group: 'us' },
]
const host: DashboardVariable = { kind: 'host', name: 'host', label: '', default: '', group: 'group' }
const table: DashboardVariable = { kind: 'table', name: 'table', label: '', default: 'shop.orders' }
const list: DashboardVariable = { kind: 'list', name: 'size', label: '', default: '', options: ['s', 'm'] }

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
