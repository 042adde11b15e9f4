import { describe, expect, it } from 'vitest'
import type { Dependency } from '#lib/api/explorer.ts'
import { buildDependencyGraph } from './dependency-graph.ts'

const end = (table: string, engine: string | null = 'MergeTree') => ({ database: 'shop', table, engine })
const flow = (from: string, to: string, more: Partial<Dependency> = {}): Dependency => ({
  kind: 'view',
  from: end(from),
  to: end(to),
  direction: null,
  cluster: null,
  ...more,
})

describe('dependency graph', () => {
  it('contains each table once, and an edge per dependency', () => {
    const graph = buildDependencyGraph(
      [flow('orders', 'open'), flow('orders', 'days', { kind: 'materialized-view' })],
      null,
    )
    expect(graph.nodes.map(({ id }) => id)).toEqual(['shop.orders', 'shop.open', 'shop.days'])
    expect(graph.edges).toEqual([
      { from: 'shop.orders', to: 'shop.open', label: 'view' },
      { from: 'shop.orders', to: 'shop.days', label: 'feeds' },
    ])
    expect(graph.omitted).toBe(0)
  })

  it('names the cluster of Distributed tables, and marks missing tables', () => {
    const graph = buildDependencyGraph(
      [flow('all', 'x', { kind: 'distributed', cluster: 'main', to: end('x', null) })],
      null,
    )
    expect(graph.edges[0]?.label).toBe('distributed · main')
    expect(graph.nodes[1]?.engine).toBeNull()
  })

  it('always contains the root table, with its engine if known', () => {
    const root = { database: 'shop', table: 'orders' }
    expect(buildDependencyGraph([], root).nodes.map(({ id }) => id)).toEqual(['shop.orders'])
    expect(buildDependencyGraph([flow('orders', 'open')], root).nodes[0]).toMatchObject({ engine: 'MergeTree' })
  })

  it('counts omitted tables and drops their edges', () => {
    const many = Array.from({ length: 200 }, (_, index) => flow('orders', `view-${index}`))
    const { nodes, edges, omitted } = buildDependencyGraph(many, null)
    expect([nodes.length, edges.length, omitted]).toEqual([150, 149, 51])
  })
})
