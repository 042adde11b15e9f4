import type { Topology } from '#lib/api/host-comparison.ts'

type Cluster = Topology['data']['clusters'][number]
type Shard = Cluster['shards'][number]
export type Replica = Shard['replicas'][number]
export type TopologyMember = Topology['data']['members'][number]

/** A node of the topology graph: the cluster, a shard or a replica. */
export type TopologyNode = { id: string } & (
  | { kind: 'cluster'; name: string; shards: number; replicas: number }
  | { kind: 'shard'; shard: Shard }
  | { kind: 'replica'; replica: Replica; member: TopologyMember | undefined; health: ReplicaHealth }
)

/** The health of a replica. */
export type ReplicaHealth = 'good' | 'warn' | 'bad' | 'unknown'

/** The label of each health, most severe first. */
export const healthWords: Readonly<Record<ReplicaHealth, string>> = {
  bad: 'Unhealthy',
  warn: 'Warning',
  unknown: 'Not monitored',
  good: 'Healthy',
}

const ddlLagWarning = 10
const delayWarningSeconds = 300

/** Returns the health of a replica: `bad` if it is unusable, `warn` if it lags, `unknown` without data. */
export const evaluateReplicaHealth = (replica: Replica, member: TopologyMember | undefined): ReplicaHealth => {
  if (member?.status === 'down' || replica.isActive === false) return 'bad'
  const replication = member?.replication
  if (replication && (replication.readonly > 0 || replication.sessionsExpired > 0)) return 'bad'
  const isLate = (replication?.maxDelaySeconds ?? 0) >= delayWarningSeconds || (replica.ddlLag ?? 0) >= ddlLagWarning
  if (replica.errors > 0 || isLate || replica.recoveringMs !== null) return 'warn'
  return member || replica.isActive !== null || replica.isLocal ? 'good' : 'unknown'
}

/** Returns the graph of a cluster: nodes for the cluster, its shards and replicas, and the edges between them. */
export const buildTopologyGraph = (cluster: Cluster, members: readonly TopologyMember[]) => {
  const root = `cluster ${cluster.name}`
  const replicas = cluster.shards.flatMap((shard) => shard.replicas)
  const nodes: TopologyNode[] = [
    { id: root, kind: 'cluster', name: cluster.name, shards: cluster.shards.length, replicas: replicas.length },
  ]
  const edges: { from: string; to: string }[] = []
  for (const shard of cluster.shards) {
    const shardId = `shard ${shard.number}`
    nodes.push({ id: shardId, kind: 'shard', shard })
    edges.push({ from: root, to: shardId })
    for (const replica of shard.replicas) {
      const id = `${shardId} replica ${replica.number}`
      const member = members.find((each) => each.id === replica.hostId)
      nodes.push({ id, kind: 'replica', replica, member, health: evaluateReplicaHealth(replica, member) })
      edges.push({ from: shardId, to: id })
    }
  }
  return { nodes, edges }
}

type ReplicaNode = Extract<TopologyNode, { kind: 'replica' }>

/** A shard with its replicas, for the list of a large cluster. */
export interface ShardReplicas {
  shard: Shard
  replicas: ReplicaNode[]
}

/** Maximum number of replicas that a graph shows by default. More do not fit on a screen at a readable size. */
export const maxGraphReplicas = 16

/** Returns the shards with the replicas that have a health and contain a text. Shards without any are left out. */
export const listShardReplicas = (
  nodes: readonly TopologyNode[],
  health: ReplicaHealth | null,
  search: string,
): ShardReplicas[] => {
  const wanted = search.trim().toLowerCase()
  const isFound = ({ health: own, replica, member }: ReplicaNode): boolean =>
    (health === null || own === health) &&
    `${member?.name ?? ''} ${replica.host}:${replica.port}`.toLowerCase().includes(wanted)
  const shards: ShardReplicas[] = []
  for (const node of nodes) {
    if (node.kind === 'shard') shards.push({ shard: node.shard, replicas: [] })
    else if (node.kind === 'replica' && isFound(node)) shards.at(-1)?.replicas.push(node)
  }
  return shards.filter(({ replicas }) => replicas.length > 0)
}
