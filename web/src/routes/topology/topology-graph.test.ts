import { describe, expect, it } from 'vitest'
import {
  evaluateReplicaHealth,
  buildTopologyGraph,
  listShardReplicas,
  type TopologyMember,
  type Replica,
} from './topology-graph.ts'

const replica = (more: Partial<Replica> = {}): Replica => ({
  number: 1,
  host: 'a',
  address: '10.0.0.1',
  port: 9_000,
  isLocal: false,
  hostId: null,
  errors: 0,
  slowdowns: 0,
  forgivenInSeconds: 0,
  isActive: null,
  ddlLag: null,
  recoveringMs: null,
  ...more,
})
const replication = {
  tables: 1,
  readonly: 0,
  sessionsExpired: 0,
  maxDelaySeconds: 0,
  queueSize: 0,
  lostParts: 0,
  exception: '',
}
const member = (more: Partial<TopologyMember> = {}): TopologyMember => ({
  id: 0,
  name: 'a',
  error: null,
  status: 'up',
  version: '26.7',
  load: null,
  replication,
  unavailable: null,
  ...more,
})

describe('replica health', () => {
  it.each([
    ['unknown', replica(), undefined],
    ['good', replica({ isLocal: true }), undefined],
    ['good', replica({ isActive: true }), undefined],
    ['good', replica(), member()],
    ['bad', replica(), member({ status: 'down' })],
    ['bad', replica({ isActive: false }), member()],
    ['bad', replica(), member({ replication: { ...replication, readonly: 1 } })],
    ['warn', replica({ errors: 2 }), member()],
    ['warn', replica({ ddlLag: 50 }), member()],
    ['warn', replica(), member({ replication: { ...replication, maxDelaySeconds: 900 } })],
    ['warn', replica({ recoveringMs: 1 }), undefined],
  ] as const)('is %s', (health, given, of) => expect(evaluateReplicaHealth(given, of)).toBe(health))
})

it('builds a tree of cluster, shards and replicas', () => {
  const shard = (number: number, replicas: Replica[]) => ({ number, weight: 1, internalReplication: true, replicas })
  const cluster = {
    name: 'main',
    shards: [shard(1, [replica({ hostId: 0 }), replica({ number: 2 })]), shard(2, [replica()])],
  }
  const { nodes, edges } = buildTopologyGraph(cluster, [member()])
  expect(nodes.map(({ id }) => id)).toEqual([
    'cluster main',
    'shard 1',
    'shard 1 replica 1',
    'shard 1 replica 2',
    'shard 2',
    'shard 2 replica 1',
  ])
  expect(edges).toHaveLength(5)
  expect(nodes[2]).toMatchObject({ member: { name: 'a' }, health: 'good' })
})

describe('the list of a large cluster', () => {
  const shards = Array.from({ length: 100 }, (_, index) => ({
    number: index + 1,
    weight: 1,
    internalReplication: true,
    replicas: [1, 2].map((number) => replica({ number, host: `db-${index + 1}-${number}`, isActive: index !== 6 })),
  }))
  const { nodes } = buildTopologyGraph({ name: 'main', shards }, [])
  const names = (...filters: [Parameters<typeof listShardReplicas>[1], string]) =>
    listShardReplicas(nodes, ...filters).flatMap(({ replicas }) => replicas.map((each) => each.replica.host))

  it('contains every replica of every shard', () => {
    expect(listShardReplicas(nodes, null, '').map(({ shard }) => shard.number)).toEqual(
      shards.map(({ number }) => number),
    )
    expect(names(null, '')).toHaveLength(200)
  })

  it('is filtered by health and text, without shards that have no match', () => {
    expect(names('bad', '')).toEqual(['db-7-1', 'db-7-2'])
    expect(names('bad', ' DB-7-2')).toEqual(['db-7-2'])
    expect(names('warn', '')).toEqual([])
    expect(listShardReplicas(nodes, null, 'db-42-').map(({ shard }) => shard.number)).toEqual([42])
  })
})
