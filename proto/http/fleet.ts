import { z } from 'zod'
import { Finding } from '../finding.ts'
import { FleetHost } from '../fleet.ts'
import { answer } from './answer.ts'

/** Compact, because a response can have hundreds of hosts: whole numbers, and shares in percent. */
const FleetLoad = z.object({
  /** Running now. */
  queries: z.number().nullable(),
  merges: z.number().nullable(),
  /** Of all cores. */
  cpu: z.number().nullable(),
  memory: z.number().nullable(),
  /** Of all local disks together. */
  disk: z.number().nullable(),
  /** Read-only replicas. */
  readonly: z.number().nullable(),
  /** Largest replication lag in seconds. */
  delay: z.number().nullable(),
})

/** One host of the list. */
export const FleetEntry = FleetHost.pick({
  id: true,
  name: true,
  group: true,
  tags: true,
  status: true,
  version: true,
}).extend({
  /** Why it is down. */
  reason: FleetHost.shape.reason.unwrap().optional(),
  /** Seconds. */
  uptime: z.number().nullable(),
  load: FleetLoad.nullable(),
  /** The worst problem of the host, from the services that responded. */
  worstFinding: Finding.nullable(),
})
export type FleetEntry = z.infer<typeof FleetEntry>

/**
 * `GET /api/v1/fleet`. `oldestMs` is the age of the oldest state; `findingsBy` names the services that reported
 * findings.
 */
export const FleetResponse = answer(
  z.array(FleetEntry),
  z.object({ oldestMs: z.number().nullable(), findingsBy: z.array(z.string()) }),
)
