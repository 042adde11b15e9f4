import { describe, expect, it } from 'vitest'
import type { Dependency } from '#lib/api/explorer.ts'
import { dependencyGraph } from './dependency-graph.ts'

const end = (table: string, engine: string | null = 'MergeTree') => ({ database: 'shop', table, engine })
const flow = (from: string, to: string, more: Partial<Dependency> = {}): Dependency => ({
  kind: 'view',
  from: end(from),
  to: end(to),
  direction: null,
  cluster: null,
  ...more,
})

describe('the graph of dependencies', () => {
  it('has each table once, and an edge for each flow', () => {
    const graph = dependencyGraph([flow('orders', 'open'), flow('orders', 'days', { kind: 'materialized-view' })], null)
    expect(graph.nodes.map(({ id }) => id)).toEqual(['shop.orders', 'shop.open', 'shop.days'])
    expect(graph.edges).toEqual([
      { from: 'shop.orders', to: 'shop.open', label: 'view' },
      { from: 'shop.orders', to: 'shop.days', label: 'feeds' },
    ])
    expect(graph.left).toBe(0)
  })

  it('names the cluster of a distributed table, and knows what the host does not have', () => {
    const graph = dependencyGraph(
      [flow('all', 'x', { kind: 'distributed', cluster: 'main', to: end('x', null) })],
      null,
    )
    expect(graph.edges[0]?.label).toBe('distributed · main')
    expect(graph.nodes[1]?.engine).toBeNull()
  })

  it('always has the table that is asked about, with its engine when that is told', () => {
    const asked = { database: 'shop', table: 'orders' }
    expect(dependencyGraph([], asked).nodes.map(({ id }) => id)).toEqual(['shop.orders'])
    expect(dependencyGraph([flow('orders', 'open')], asked).nodes[0]).toMatchObject({ engine: 'MergeTree' })
  })

  it('says how many it leaves out, and draws no edge to them', () => {
    const many = Array.from({ length: 200 }, (_, index) => flow('orders', `view-${index}`))
    const { nodes, edges, left } = dependencyGraph(many, null)
    expect([nodes.length, edges.length, left]).toEqual([150, 149, 51])
  })
})
