import { z } from 'zod'
import { figure, flag } from '../analysis/records.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { sqlFor } from '../definitions/version.ts'

/** Replicas of all clusters together; a host knows one row of each. */
export const maxReplicas = 10_000

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

/** What a host knows of its clusters, or of one of them. */
export const clustersStatement = (serverVersion: string, cluster = ''): Statement => ({
  what: 'topology',
  sql: sqlFor(branches, serverVersion) ?? '',
  parameters: { cluster },
})

/** One row of it. */
export const ClusterRow = z.object({
  cluster: z.string(),
  shard: z.number(),
  weight: z.number(),
  internalReplication: flag,
  number: z.number(),
  host: z.string(),
  address: z.string(),
  port: z.number(),
  isLocal: flag,
  errors: figure,
  slowdowns: figure,
  forgivenInSeconds: figure,
  isActive: flag.nullable(),
  ddlLag: figure.nullable(),
  recoveringMs: figure.nullable(),
})
export type ClusterRow = z.output<typeof ClusterRow>
