import { z } from 'zod'
import { Identity } from './call.ts'
import { event } from './contract.ts'
import type { Host } from './host.ts'

const HostOnRecord = z.string().brand('HostOnRecord')
/** The name of a host as records show it, which only `hostOnRecord` makes. */
export type HostOnRecord = z.infer<typeof HostOnRecord>

/** Follows the name of a host that a caller connected; names of configured hosts never end so. */
export const broughtMark = ' (brought by the caller)'

/** Returns what records call a host. Callers name their own connections, which must not pass for hosts of the operator. */
export const hostOnRecord = ({ key, name }: Pick<Host, 'key' | 'name'>): HostOnRecord =>
  HostOnRecord.parse(key.startsWith('user:') ? name + broughtMark : name)

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

/** The tool server reports a call that came to it without a request at the gateway, which keeps the record. */
export const actionAudited = event({
  name: 'action.audited',
  doc: 'Somebody had something done; kept by the gateway.',
  publishers: ['mcp'],
  listeners: ['gateway'],
  payload: AuditRecord,
})
