import { z } from 'zod'
import { HostState } from '../host.ts'

/** Response of `GET /api/health`, exactly as specified. */
export const HealthResponse = z.object({ status: z.literal('ok'), timestamp: z.iso.datetime() })

/** Response of `GET /api/healthz`: last known host states. Anonymous callers and guests see only ids and statuses. */
export const HealthzResponse = z.object({
  ok: z.boolean(),
  hosts: z.array(
    HostState.pick({ id: true, status: true }).extend({
      name: z.string().optional(),
      reason: z.string().nullable().optional(),
      version: z.string().nullable().optional(),
      latencyMs: z.number().nullable().optional(),
      checkedAt: z.iso.datetime().nullable().optional(),
    }),
  ),
  cloudMode: z.object({ build: z.boolean(), runtime: z.boolean(), warning: z.string().nullable() }),
})

/** Response of `GET /api/version`. */
export const VersionResponse = z.object({
  ui: z.string(),
  version: z.string(),
  gitSha: z.string().nullable(),
  gitRef: z.string().nullable(),
  builtAt: z.string().nullable(),
  /** The name of the edition. */
  edition: z.string(),
})
