import { TopologyAnswer, TopologyQuery } from '#proto/http/cluster.ts'
import type { Host } from '#proto/query.ts'
import type { Cluster } from '#proto/topology.ts'
import { getRoute } from '../http-route.ts'
import { success } from '../response/envelope.ts'

export const clusterTopology = getRoute({
  path: '/api/v1/cluster/topology',
  doc: 'Clusters, shards and replicas as one host knows them, with live figures of those that are hosts of the list',
  feature: 'CLUSTER',
  access: 'read',
  limit: 'data',
  query: TopologyQuery,
  answer: TopologyAnswer,
  handle: async ({ query: { hostId, cluster }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const told = await gateway.query.topology({ hostKey: key, cluster }, call)
    const hosts = new Map((await gateway.hosts.all()).map((host) => [host.key, host]))
    const members = told.members.flatMap(({ hostKey, ...member }) => {
      const host = hosts.get(hostKey)
      return host ? [{ id: host.id, name: host.name, ...member }] : []
    })
    const { truncated, unavailable } = told
    const clusters = told.clusters.map((each) => placed(each, hosts))
    return success({ clusters, members }, { host: name, truncated, unavailable })
  },
})

/** Keys stay inside; callers know hosts by their position. */
const placed = ({ name, shards }: Cluster, hosts: ReadonlyMap<string, Host>) => ({
  name,
  shards: shards.map((shard) => ({
    ...shard,
    replicas: shard.replicas.map(({ hostKey, ...replica }) => ({
      ...replica,
      hostId: hostKey === null ? null : (hosts.get(hostKey)?.id ?? null),
    })),
  })),
})
