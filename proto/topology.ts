import { z } from 'zod'
import { rpc } from './contract.ts'
import { AskedHost, HostKey, HostLoad, HostState, ofHost, readers } from './host.ts'
import { Unavailable } from './unavailable.ts'

/** A replica as the asked host knows it. */
export const ClusterReplica = z.object({
  number: z.number().int(),
  host: z.string(),
  address: z.string(),
  port: z.number().int(),
  /** It is the asked host itself. */
  isLocal: z.boolean(),
  /** The host of the host list that this is, as far as names tell. */
  hostKey: HostKey.nullable(),
  /** Failed attempts of the asked host to reach it, and those after which it was too slow. */
  errors: z.number(),
  slowdowns: z.number(),
  /** Until these errors are forgotten. */
  forgivenInSeconds: z.number(),
  /** Of replicated databases alone: whether it is active, how many DDL entries it is behind, and since when it recovers. */
  isActive: z.boolean().nullable(),
  ddlLag: z.number().nullable(),
  recoveringMs: z.number().nullable(),
})
export type ClusterReplica = z.infer<typeof ClusterReplica>

/** A cluster with its shards and their replicas, each in the order of its number. */
export const Cluster = z.object({
  name: z.string(),
  shards: z.array(
    z.object({
      number: z.number().int(),
      weight: z.number(),
      /** Writes go to one replica, which hands them on. */
      internalReplication: z.boolean(),
      replicas: z.array(ClusterReplica),
    }),
  ),
})
export type Cluster = z.infer<typeof Cluster>

/** The replicated tables of one host together. */
export const Replication = z.object({
  tables: z.number(),
  readonly: z.number(),
  sessionsExpired: z.number(),
  maxDelaySeconds: z.number(),
  queueSize: z.number(),
  lostParts: z.number(),
  /** The last failure of a queue, cut to 500 characters; empty when there is none. */
  exception: z.string(),
})
export type Replication = z.infer<typeof Replication>

/** A host of the host list that is in one of the clusters: state and load of the last probe, its replication as it is now. */
export const ClusterMember = AskedHost.extend({
  status: HostState.shape.status,
  version: HostState.shape.version,
  load: HostLoad.nullable(),
  replication: Replication.nullable(),
  /** Why there is no replication to tell. */
  unavailable: Unavailable.nullable(),
})
export type ClusterMember = z.infer<typeof ClusterMember>

/** Methods about clusters. */
export const topologyMethods = {
  topology: rpc({
    doc: 'Clusters, shards and replicas as one host knows them, with live figures of those that are hosts of the list; each of these fails alone.',
    callers: readers,
    feature: 'CLUSTER',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      /** One cluster only; `not-found` when the host does not know it. */
      cluster: z.string().min(1).max(256).optional(),
    }),
    output: z.object({
      clusters: z.array(Cluster),
      members: z.array(ClusterMember),
      /** There are more replicas than are told. */
      truncated: z.boolean(),
      unavailable: Unavailable.nullable(),
    }),
  }),
}
