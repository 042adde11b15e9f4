import { z } from 'zod'
import { rpc } from './contract.ts'
import { QueriedHost, HostKey, HostLoad, HostState, hostInput, hostDataReaders } from './host.ts'
import { UnavailableReason } from './unavailable-reason.ts'

/** A replica of a shard, as seen by the queried host. */
export const ClusterReplica = z.object({
  number: z.number().int(),
  host: z.string(),
  address: z.string(),
  port: z.number().int(),
  /** Whether this replica is the queried host. */
  isLocal: z.boolean(),
  /** The matching host of the host list, by name. */
  hostKey: HostKey.nullable(),
  /** Failed connections to this replica. `slowdowns` counts slow ones, after which a hedged request was sent. */
  errors: z.number(),
  slowdowns: z.number(),
  /** Seconds until the queried host resets `errors`. */
  forgivenInSeconds: z.number(),
  /**
   * Whether the replica is active, its DDL queue lag, and the duration of its recovery. Null outside replicated
   * databases.
   */
  isActive: z.boolean().nullable(),
  ddlLag: z.number().nullable(),
  recoveringMs: z.number().nullable(),
})
export type ClusterReplica = z.infer<typeof ClusterReplica>

/** A cluster with its shards and their replicas, ordered by number. */
export const Cluster = z.object({
  name: z.string(),
  shards: z.array(
    z.object({
      number: z.number().int(),
      weight: z.number(),
      /** Whether an insert into a Distributed table goes to one replica per shard, which replicates it. */
      internalReplication: z.boolean(),
      replicas: z.array(ClusterReplica),
    }),
  ),
})
export type Cluster = z.infer<typeof Cluster>

/** Totals over the replicated tables of one host. */
export const ReplicationTotals = z.object({
  tables: z.number(),
  readonly: z.number(),
  sessionsExpired: z.number(),
  maxDelaySeconds: z.number(),
  queueSize: z.number(),
  lostParts: z.number(),
  /** The last exception of a queue, cut to 500 characters; empty without one. */
  exception: z.string(),
})
export type ReplicationTotals = z.infer<typeof ReplicationTotals>

/** A configured host in one of the clusters: state and load of the last probe, and its current replication. */
export const ClusterMember = QueriedHost.extend({
  status: HostState.shape.status,
  version: HostState.shape.version,
  load: HostLoad.nullable(),
  replication: ReplicationTotals.nullable(),
  /** Why replication data is unavailable. */
  unavailable: UnavailableReason.nullable(),
})
export type ClusterMember = z.infer<typeof ClusterMember>

/** Methods for clusters. */
export const topologyMethods = {
  topology: rpc({
    doc: 'Returns clusters, shards and replicas as seen by one host, with live figures of the configured hosts among them; each host fails independently.',
    callers: hostDataReaders,
    feature: 'CLUSTER',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      /** Name of the only cluster to return; `not-found` if the host does not have it. */
      cluster: z.string().min(1).max(256).optional(),
    }),
    output: z.object({
      clusters: z.array(Cluster),
      members: z.array(ClusterMember),
      /** Whether the list of replicas is truncated. */
      truncated: z.boolean(),
      unavailable: UnavailableReason.nullable(),
    }),
  }),
}
