import { z } from 'zod'
import { Identity } from './call.ts'
import { event } from './contract.ts'
import type { Host } from './host.ts'

const AuditHostName = z.string().brand('AuditHostName')
/** The name of a host in audit records. The brand ensures that only `formatAuditHostName` creates it. */
export type AuditHostName = z.infer<typeof AuditHostName>

/** The suffix of user-supplied hosts. Names of configured hosts never end with it. */
export const userConnectionSuffix = ' (user-supplied)'

/**
 * Returns the name of a host for audit records. User-supplied hosts get a suffix, because users could name them like
 * configured hosts.
 */
export const formatAuditHostName = ({ key, name }: Pick<Host, 'key' | 'name'>): AuditHostName =>
  AuditHostName.parse(key.startsWith('user:') ? name + userConnectionSuffix : name)

/** The record of an action on a host or on the product itself. */
export const AuditRecord = z.object({
  id: z.string().min(1).max(64),
  /** Epoch milliseconds of the start. */
  atMs: z.number().int(),
  /** Kind and subject of the identity. */
  actor: Identity.pick({ kind: true, subject: true }),
  /** The action, such as `kill-query`; never a statement. */
  action: z.string().max(64),
  /** Label of the host; null if the action concerns no host. */
  host: z.string().max(256).nullable(),
  /** The fields that identify the target. */
  target: z.record(z.string().max(64), z.string().max(1024)),
  /** `started` remains if the process stopped before the result was known. */
  result: z.enum(['started', 'done', 'refused', 'failed']),
  /** The outcome as text. */
  detail: z.string().max(500).nullable(),
  tookMs: z.number().nullable(),
  requestId: z.string().max(128).nullable(),
})
export type AuditRecord = z.infer<typeof AuditRecord>

/** Published by the tool server for a call without a gateway request. The gateway stores the record. */
export const actionAudited = event({
  name: 'action.audited',
  doc: 'An action was performed; stored by the gateway.',
  publishers: ['mcp'],
  listeners: ['gateway'],
  payload: AuditRecord,
})
