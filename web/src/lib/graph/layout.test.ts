import { describe, expect, it } from 'vitest'
import { layOutGraph } from './layout.ts'

const size = { width: 100, height: 40 }
const edges = [
  { from: 'a', to: 'b' },
  { from: 'a', to: 'c', label: 'reads' },
  { from: 'c', to: 'd' },
]

describe('graph layout', () => {
  it.each(['down', 'right'] as const)('goes %s, without overlaps and within its bounds', (direction) => {
    const { nodes, width, height } = layOutGraph(['a', 'b', 'c', 'd'], edges, size, direction)
    const at = new Map(nodes.map((node) => [node.id, node]))
    const along = (id: string) => (direction === 'down' ? at.get(id)?.top : at.get(id)?.left) ?? Number.NaN
    expect(along('a')).toBeLessThan(along('b'))
    expect(along('c')).toBeLessThan(along('d'))
    for (const one of nodes) {
      expect(one.left + size.width).toBeLessThanOrEqual(width)
      expect(one.top + size.height).toBeLessThanOrEqual(height)
      for (const other of nodes) {
        if (one === other) continue
        const apart = Math.abs(one.left - other.left) >= size.width || Math.abs(one.top - other.top) >= size.height
        expect(apart, `${one.id} and ${other.id}`).toBe(true)
      }
    }
  })

  it('draws each edge, including duplicates, and drops edges to unknown nodes', () => {
    const drawn = layOutGraph(['a', 'b'], [...edges, { from: 'a', to: 'b' }], size, 'right').edges
    expect(drawn.map(({ from, to }) => [from, to])).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
    for (const { path } of drawn) expect(path).toMatch(/^M[\d.]+,[\d.]+ [LQ]/)
  })

  it('keeps the order of siblings in a tree', () => {
    const leaves = ['one', 'two', 'three', 'four']
    const { nodes } = layOutGraph(
      ['root', ...leaves],
      leaves.map((to) => ({ from: 'root', to })),
      size,
      'right',
      true,
    )
    const tops = nodes.slice(1).map(({ top }) => top)
    expect(tops).toEqual(tops.toSorted((a, b) => a - b))
  })

  it('handles cycles and empty graphs', () => {
    expect(
      layOutGraph(
        ['a', 'b'],
        [
          { from: 'a', to: 'b' },
          { from: 'b', to: 'a' },
        ],
        size,
        'down',
      ).nodes,
    ).toHaveLength(2)
    expect(layOutGraph([], [], size, 'down')).toMatchObject({ nodes: [], edges: [] })
  })
})
