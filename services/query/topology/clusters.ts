import type { Cluster } from '#proto/topology.ts'
import type { ClusterRow } from './clusters-statement.ts'
import { type Named, ownHosts } from './own-hosts.ts'

type Shard = Cluster['shards'][number]
type Placed = ClusterRow & { hostKey: string | null }

/** Rows, in the order of cluster, shard and replica, as a tree; replicas that are hosts of the list have their keys. */
export const clustersOf = (rows: readonly ClusterRow[], asked: string, hosts: readonly Named[]): Cluster[] =>
  [...Map.groupBy(rows, ({ cluster }) => cluster)].map(([name, ofCluster]) => {
    const keys = ownHosts(ofCluster, asked, hosts)
    const placed = ofCluster.map((row, index) => ({ ...row, hostKey: keys[index] ?? null }))
    const shards = [...Map.groupBy(placed, ({ shard }) => shard)].map(([number, ofShard]) => shardOf(number, ofShard))
    return { name, shards }
  })

const shardOf = (number: number, rows: readonly Placed[]): Shard => ({
  number,
  weight: rows[0]?.weight ?? 0,
  internalReplication: rows[0]?.internalReplication ?? false,
  replicas: rows.map(
    ({ cluster: _cluster, shard: _shard, weight: _weight, internalReplication: _way, ...replica }) => replica,
  ),
})

/** Keys of the replicas that are hosts of the list, each once. */
export const membersOf = (clusters: readonly Cluster[]): string[] => {
  const replicas = clusters.flatMap(({ shards }) => shards.flatMap((shard) => shard.replicas))
  return [...new Set(replicas.flatMap(({ hostKey }) => hostKey ?? []))]
}
