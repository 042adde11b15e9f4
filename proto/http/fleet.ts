import { z } from 'zod'
import { Finding } from '../finding.ts'
import { FleetHost } from '../fleet.ts'
import { createResponseSchema } from './response.ts'

/** The load of a host. Shares are whole percentages, so that a response with many hosts stays small. */
const FleetLoad = z.object({
  /** Number of running queries. */
  queries: z.number().nullable(),
  merges: z.number().nullable(),
  /** CPU usage of all cores together. */
  cpu: z.number().nullable(),
  memory: z.number().nullable(),
  /** Usage of all local disks together. */
  disk: z.number().nullable(),
  /** Number of read-only replicas. */
  readonly: z.number().nullable(),
  /** Largest replication lag in seconds. */
  delay: z.number().nullable(),
})

/** A host of the fleet, with its last known state. */
export const FleetHostView = FleetHost.pick({
  id: true,
  name: true,
  group: true,
  tags: true,
  status: true,
  version: true,
}).extend({
  /** Why the host is down; absent for other hosts. */
  reason: FleetHost.shape.reason.unwrap().optional(),
  /** Uptime in seconds. */
  uptime: z.number().nullable(),
  load: FleetLoad.nullable(),
  /** The worst problem of the host, from the services that responded. */
  worstFinding: Finding.nullable(),
})
export type FleetHostView = z.infer<typeof FleetHostView>

/**
 * Response of `GET /api/v1/fleet`. `oldestMs` is the age of the oldest state; `findingsBy` names the services that
 * reported findings.
 */
export const FleetResponse = createResponseSchema(
  z.array(FleetHostView),
  z.object({ oldestMs: z.number().nullable(), findingsBy: z.array(z.string()) }),
)
