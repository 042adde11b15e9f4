import { describe, expect, it } from 'vitest'
import { findDataFlow } from './read-dependencies.ts'

const end = (table: string) => ({ database: 'shop', table, engine: 'MergeTree' })
const edge = (from: string, to: string) => ({ kind: 'view' as const, from: end(from), to: end(to), cluster: null })
const through = (table: string, edges: ReturnType<typeof edge>[]): string[] =>
  findDataFlow(edges, { database: 'shop', table }).map(
    ({ direction, from, to }) => `${direction} ${from.table} > ${to.table}`,
  )

describe('the flow through a table', () => {
  const edges = [edge('days', 'months'), edge('orders', 'days'), edge('imports', 'orders'), edge('orders', 'open')]

  it('is followed in both directions, nearest first', () => {
    expect(through('orders', edges)).toEqual([
      'upstream imports > orders',
      'downstream orders > days',
      'downstream orders > open',
      'downstream days > months',
    ])
  })

  it('excludes tables that only share a source', () => {
    expect(through('days', edges)).toEqual([
      'upstream orders > days',
      'upstream imports > orders',
      'downstream days > months',
    ])
  })

  it('terminates on a cycle', () => {
    expect(through('one', [edge('one', 'two'), edge('two', 'one')])).toEqual([
      'upstream two > one',
      'upstream one > two',
    ])
  })
})
