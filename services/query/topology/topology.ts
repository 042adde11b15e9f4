import { isIP } from 'node:net'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Cluster, ClusterMember } from '#proto/topology.ts'
import { readRecords, hostNumberSchema, hostBooleanSchema } from '../analysis/read-records.ts'
import { queryIfAvailable } from '../clickhouse/availability.ts'
import { selectSqlBranch } from '../clickhouse/capabilities.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { queryEachHost } from '../hosts/query-each-host.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

/** Maximum number of replicas in all clusters of a host together. */
const maxReplicas = 10_000

const sql = (active: string, lag: string, recovering: string): string => `SELECT
  cluster,
  shard_num AS shard,
  shard_weight AS weight,
  internal_replication AS internalReplication,
  replica_num AS number,
  host_name AS host,
  host_address AS address,
  port,
  is_local AS isLocal,
  errors_count AS errors,
  slowdowns_count AS slowdowns,
  estimated_recovery_time AS forgivenInSeconds,
  ${active} AS isActive,
  ${lag} AS ddlLag,
  ${recovering} AS recoveringMs
FROM system.clusters
WHERE {cluster:String} = '' OR cluster = {cluster:String}
ORDER BY cluster, shard, number
LIMIT ${maxReplicas + 1}`

const branches = [
  { since: '1.1', sql: sql('NULL', 'NULL', 'NULL') },
  { since: '24.10', sql: sql('is_active', 'replication_lag', 'recovery_time') },
]

/** Returns the statement for all clusters of a host, or for one of them. */
export const buildClustersStatement = (serverVersion: string, cluster = ''): Statement => ({
  what: 'topology',
  sql: selectSqlBranch(branches, serverVersion) ?? '',
  parameters: { cluster },
})

/** A row of `buildClustersStatement`: one replica of a cluster. */
export const ClusterRow = z.object({
  cluster: z.string(),
  shard: z.number(),
  weight: z.number(),
  internalReplication: hostBooleanSchema,
  number: z.number(),
  host: z.string(),
  address: z.string(),
  port: z.number(),
  isLocal: hostBooleanSchema,
  errors: hostNumberSchema,
  slowdowns: hostNumberSchema,
  forgivenInSeconds: hostNumberSchema,
  isActive: hostBooleanSchema.nullable(),
  ddlLag: hostNumberSchema.nullable(),
  recoveringMs: hostNumberSchema.nullable(),
})
export type ClusterRow = z.output<typeof ClusterRow>

/** Maximum number of members to query, so that one page does not query the whole fleet. */
const maxMembers = 64
const needs = { requires: ['system.clusters'] }

/** Returns the handler for the clusters that one host knows. */
export const createTopologyHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['topology'] =>
  async ({ hostKey, cluster }, call) => {
    const host = parts.hosts.get(hostKey)
    const { version } = await parts.client.capabilities(host, call)
    const { data, unavailable } = await queryIfAvailable(parts.client, host, needs, call, async () =>
      readRecords(host, ClusterRow, await parts.client.run(host, buildClustersStatement(version, cluster), call)),
    )
    if (!data) return { clusters: [], members: [], truncated: false, unavailable }
    if (cluster !== undefined && data.length === 0) throw unknownCluster(host.name, cluster)
    const clusters = clustersOf(data.slice(0, maxReplicas), hostKey, named(parts))
    const members = await readMembers(parts, membersOf(clusters).slice(0, maxMembers), call)
    return { clusters, members, truncated: data.length > maxReplicas, unavailable: null }
  }

const unknownCluster = (host: string, cluster: string): ServiceError =>
  new ServiceError('not-found', `unknown cluster "${cluster}" on host ${host}`, { details: { parameter: 'cluster' } })

const named = ({ hosts, probe }: QueryHandlerDeps): NamedHost[] =>
  hosts.list().map(({ key, url }) => ({ key, names: [url.hostname, probe.known(key).hostname ?? ''].filter(Boolean) }))

type Shard = Cluster['shards'][number]
type MatchedRow = ClusterRow & { hostKey: string | null }

/** Groups rows by cluster and shard, in row order. Replicas that are configured hosts get the key of that host. */
const clustersOf = (rows: readonly ClusterRow[], queried: string, hosts: readonly NamedHost[]): Cluster[] =>
  [...Map.groupBy(rows, ({ cluster }) => cluster)].map(([name, ofCluster]) => {
    const keys = matchHosts(ofCluster, queried, hosts)
    const placed = ofCluster.map((row, index) => ({ ...row, hostKey: keys[index] ?? null }))
    const shards = [...Map.groupBy(placed, ({ shard }) => shard)].map(([number, ofShard]) => shardOf(number, ofShard))
    return { name, shards }
  })

const shardOf = (number: number, rows: readonly MatchedRow[]): Shard => ({
  number,
  weight: rows[0]?.weight ?? 0,
  internalReplication: rows[0]?.internalReplication ?? false,
  replicas: rows.map(
    ({ cluster: _cluster, shard: _shard, weight: _weight, internalReplication: _way, ...replica }) => replica,
  ),
})

/** Returns the distinct host keys of the replicas that are configured hosts. */
const membersOf = (clusters: readonly Cluster[]): string[] => {
  const replicas = clusters.flatMap(({ shards }) => shards.flatMap((shard) => shard.replicas))
  return [...new Set(replicas.flatMap(({ hostKey }) => hostKey ?? []))]
}

/** The host name and address of a replica in the cluster configuration. */
interface ReplicaAddress {
  host: string
  address: string
  isLocal: boolean
}

/** A configured host with the name in its URL and its own host name, if known. */
export interface NamedHost {
  key: string
  names: readonly string[]
}

/**
 * Returns the host key of each replica of a cluster, or null without a unique match. `queried` is the host that
 * reported the cluster. Full names are compared first, then names without their domain: clusters often use internal
 * names, and host lists external ones.
 */
export const matchHosts = (
  replicas: readonly ReplicaAddress[],
  queried: string,
  hosts: readonly NamedHost[],
): (string | null)[] => {
  const claims = replicas.map((replica) => (replica.isLocal ? queried : findReplicaHost(replica, hosts)))
  return claims.map((key, index) => {
    const isSure = replicas[index]?.isLocal || claims.indexOf(key) === claims.lastIndexOf(key)
    return isSure ? key : null
  })
}

const findReplicaHost = (replica: ReplicaAddress, hosts: readonly NamedHost[]): string | null => {
  const names = new Set([replica.host, replica.address].filter(namesOneMachine).map(toLowerCaseName))
  const calledSo = hosts.filter((host) => host.names.some((name) => names.has(toLowerCaseName(name))))
  if (calledSo.length > 0) return onlyOne(calledSo)
  const labels = new Set([...names].flatMap(label))
  return onlyOne(
    hosts.filter((host) =>
      host.names
        .map(toLowerCaseName)
        .flatMap(label)
        .some((each) => labels.has(each)),
    ),
  )
}

const onlyOne = (hosts: readonly NamedHost[]): string | null => (hosts.length === 1 ? (hosts[0]?.key ?? null) : null)
const toLowerCaseName = (name: string): string => name.toLowerCase()
/** Returns a list with the host name without its domain; an empty list for an IP address. */
const label = (name: string): string[] => (isIP(name) === 0 ? name.split('.').slice(0, 1) : [])
/** Returns whether a name identifies one machine. Loopback and unspecified addresses do not. */
const namesOneMachine = (name: string): boolean =>
  !/^(|localhost|127\..*|::1|::ffff:127\..*|0\.0\.0\.0|::)$/i.test(name)

const exceptionCharacters = 500
const replicationNeeds = { requires: ['system.replicas'] }

/** Reads the replication state of a host, from columns that need no Keeper request. */
export const replicationStatement: Statement = {
  what: 'topology',
  cache: 'realtime',
  sql: `SELECT
  count() AS tables,
  countIf(is_readonly) AS readonly,
  countIf(is_session_expired) AS sessionsExpired,
  max(absolute_delay) AS maxDelaySeconds,
  sum(queue_size) AS queueSize,
  sum(lost_part_count) AS lostParts,
  substringUTF8(anyIf(last_queue_update_exception, last_queue_update_exception != ''), 1, ${exceptionCharacters}) AS exception
FROM system.replicas`,
}

export const ReplicationRow = z.object({
  tables: hostNumberSchema,
  readonly: hostNumberSchema,
  sessionsExpired: hostNumberSchema,
  maxDelaySeconds: hostNumberSchema,
  queueSize: hostNumberSchema,
  lostParts: hostNumberSchema,
  exception: z.string(),
})

/** Returns the state, load and replication state of several configured hosts. */
const readMembers = async (
  parts: QueryHandlerDeps,
  keys: readonly string[],
  call: CallContext,
): Promise<ClusterMember[]> => {
  const { client, probe } = parts
  const results = await queryEachHost(parts, keys, call, (host, own) =>
    queryIfAvailable(client, host, replicationNeeds, own, async () =>
      readRecords(host, ReplicationRow, await client.run(host, replicationStatement, own)),
    ),
  )
  return results.map(({ host, ref, result }) => {
    const { state, load } = probe.known(host.key)
    const { status, version } = state
    const replication = result?.data?.[0] ?? null
    return { ...ref, status, version, load, replication, unavailable: result?.unavailable ?? null }
  })
}
