import { describe, expect, it } from 'vitest'
import type { ExplainNode } from '#proto/explain.ts'
import { readPlanFacts, buildPlanGraph } from './plan-facts.ts'

const node = (name: string, details: Record<string, unknown> = {}, children: ExplainNode[] = []): ExplainNode => ({
  name,
  description: null,
  details,
  children,
})

const indexes = [
  {
    Type: 'Min-Max',
    Condition: 'true',
    'Initial Parts': 5,
    'Selected Parts': 5,
    'Initial Granules': 57,
    'Selected Granules': 57,
  },
  {
    Type: 'PrimaryKey',
    Keys: ['day', 'id'],
    Condition: '(id in [7, 7])',
    'Initial Parts': 5,
    'Selected Parts': 2,
    'Initial Granules': 57,
    'Selected Granules': 3,
  },
]

describe('planFacts', () => {
  it('returns what each index and all together select', () => {
    const facts = readPlanFacts(node('ReadFromMergeTree', { 'Node Id': 'Read_0', Indexes: indexes }))
    expect(facts.reads).toEqual({ selected: 3, initial: 57 })
    expect(facts.indexes[1]).toEqual({
      name: 'PrimaryKey (day, id)',
      condition: '(id in [7, 7])',
      parts: { selected: 2, initial: 5 },
      granules: { selected: 3, initial: 57 },
    })
    expect(facts.others).toEqual([])
  })

  it('returns other details as truncated text', () => {
    const { others, reads } = readPlanFacts(
      node('Sorting', { Keys: ['a', 'b'], Limit: 10, Actions: { x: 1 }, Long: 'x'.repeat(500) }),
    )
    expect(reads).toBeNull()
    expect(others.slice(0, 3)).toEqual([
      { name: 'Keys', text: 'a, b' },
      { name: 'Limit', text: '10' },
      { name: 'Actions', text: '{"x":1}' },
    ])
    expect(others[3]?.text).toHaveLength(401)
  })

  it.each([[null], ['text'], [[null, 3]], [{}]])('handles indexes that are %j', (given) => {
    expect(readPlanFacts(node('Read', { Indexes: given })).indexes).toEqual([])
  })
})

it('builds a graph in the direction of data flow', () => {
  const { nodes, edges } = buildPlanGraph([
    node('Expression', {}, [node('Join', {}, [node('Read a'), node('Read b')])]),
  ])
  expect(nodes.map((each) => [each.id, each.node.name])).toEqual([
    ['0', 'Expression'],
    ['0.0', 'Join'],
    ['0.0.0', 'Read a'],
    ['0.0.1', 'Read b'],
  ])
  expect(edges).toEqual([
    { from: '0.0', to: '0' },
    { from: '0.0.0', to: '0.0' },
    { from: '0.0.1', to: '0.0' },
  ])
})
