import { z } from 'zod'
import { Cluster, ClusterMember, ClusterReplica } from '../topology.ts'
import { UnavailableReason } from '../unavailable-reason.ts'
import { createResponseSchema } from './response.ts'
import { hostId, textParameter } from './parameters.ts'

/** Query parameters of `GET /api/v1/cluster/topology`. */
export const TopologyQuery = z.strictObject({
  hostId: hostId.default(0),
  cluster: textParameter.min(1, 'must name a cluster').max(256, 'must not be longer than 256 characters').optional(),
})

const Shard = Cluster.shape.shards.element

/** Response of `GET /api/v1/cluster/topology`. A replica with a `hostId` is listed in `members`. */
export const TopologyResponse = createResponseSchema(
  z.object({
    clusters: z.array(
      Cluster.extend({
        shards: z.array(
          Shard.extend({
            replicas: z.array(ClusterReplica.omit({ hostKey: true }).extend({ hostId: z.number().int().nullable() })),
          }),
        ),
      }),
    ),
    members: z.array(ClusterMember.omit({ hostKey: true }).extend({ id: z.number().int(), name: z.string() })),
  }),
  z.object({ host: z.string(), truncated: z.boolean(), unavailable: UnavailableReason.nullable() }),
)
