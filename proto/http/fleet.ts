import { z } from 'zod'
import { Finding } from '../finding.ts'
import { FleetHost } from '../fleet.ts'
import { answer } from './answer.ts'

/** Hundreds of hosts are one answer, so what fills it is short: whole numbers, and shares as percent. */
const FleetLoad = z.object({
  /** Running now. */
  queries: z.number().nullable(),
  merges: z.number().nullable(),
  /** Of all cores. */
  cpu: z.number().nullable(),
  memory: z.number().nullable(),
  /** Of all local disks together. */
  disk: z.number().nullable(),
  /** Replicas that accept no writes. */
  readonly: z.number().nullable(),
  /** Seconds that the last replica is behind. */
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
  /** What is worst about it, as far as those who know answered. */
  worstFinding: Finding.nullable(),
})
export type FleetEntry = z.infer<typeof FleetEntry>

/** `GET /api/v1/fleet`. `oldestMs` is the age of the oldest state shown; `findingsBy` names the services that told of findings. */
export const FleetAnswer = answer(
  z.array(FleetEntry),
  z.object({ oldestMs: z.number().nullable(), findingsBy: z.array(z.string()) }),
)
