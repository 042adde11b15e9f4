import { z } from 'zod'
import { Identity } from './call.ts'
import { event } from './contract.ts'

/** Something that somebody had done to a host or to the product itself. */
export const AuditRecord = z.object({
  id: z.string().min(1).max(64),
  /** Epoch milliseconds of its beginning. */
  atMs: z.number().int(),
  /** Who: the identity's kind and subject. */
  actor: Identity.pick({ kind: true, subject: true }),
  /** What, such as `kill-query`; never a statement. */
  action: z.string().max(64),
  /** Label of the host; null where it is about none. */
  host: z.string().max(256).nullable(),
  /** What it was done to, by the names of its parts. */
  target: z.record(z.string().max(64), z.string().max(1024)),
  /** `begun` stays when the process ended before the result was known. */
  result: z.enum(['begun', 'done', 'refused', 'failed']),
  /** What came of it, in a sentence. */
  detail: z.string().max(500).nullable(),
  tookMs: z.number().nullable(),
  requestId: z.string().max(128).nullable(),
})
export type AuditRecord = z.infer<typeof AuditRecord>

/** Told by the services that act without a request at the gateway, which keeps it. */
export const actionAudited = event({
  name: 'action.audited',
  doc: 'Somebody had something done; kept by the gateway.',
  publishers: ['agent', 'mcp', 'alert-dispatcher', 'ingest', 'report'],
  payload: AuditRecord,
})
