import { AuditRecord, userConnectionSuffix } from '#proto/audit.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'

/** Selects audit records, newest first. */
export interface AuditFilter {
  /** Exact match, as for `subject` and `host`; undefined matches all. */
  action?: string | undefined
  subject?: string | undefined
  host?: string | undefined
  /** Only records of actions that started before this time, in epoch milliseconds. */
  beforeMs?: number | undefined
  /** Subject of the reader, who does not see personal records of others; undefined for readers who may see all. */
  reader?: string | undefined
  limit: number
}

/** Storage of audit records. */
export interface AuditStore {
  /** Inserts or updates a record. */
  put(record: AuditRecord): Promise<void>
  list(filter: AuditFilter): Promise<AuditRecord[]>
  /** Deletes records of actions that started before this time, in epoch milliseconds; returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Actions on personal data: connections, subscriptions, conversations, API keys and devices. */
const personalActions = [
  'keep-connection',
  'change-connection',
  'forget-connection',
  'subscribe-webhook',
  'change-webhook-subscription',
  'rotate-webhook-secret',
  'test-webhook-subscription',
  'end-webhook-subscription',
  'remove-conversation',
  'remove-conversations',
  'issue-api-key',
  'revoke-api-key',
  'approve-device',
  'deny-device',
] as const

/** Kinds of actors that are users. A user has the same subject with a session and with an API key. */
const personKinds = ['user', 'key'] as const

/** Returns the only subject that may see a personal record; null for a record that every reader may see. */
const ownerOf = ({ actor, action, host }: AuditRecord): string | null => {
  const isPerson = personKinds.some((kind) => kind === actor.kind)
  const isPersonal = personalActions.some((each) => each === action) || host?.endsWith(userConnectionSuffix) === true
  return isPerson && isPersonal ? actor.subject : null
}

const auditRecords = defineCollection({
  name: 'watchhouse_audit',
  schema: AuditRecord,
  columns: { atMs: 'integer', action: 'text', subject: 'text', host: 'text', owner: 'text' },
  indexes: [['atMs']],
  idOf: ({ id }) => id,
  valuesOf: (record) => ({ ...record, subject: record.actor.subject, owner: ownerOf(record) }),
})

/** Opens the audit store. Without a database it holds the newest 10,000 records of this process. */
export const openAuditStore = async (database: Database | undefined): Promise<AuditStore> => {
  const records = (await openCollections('audit', [auditRecords], database)).of(auditRecords)
  return {
    put: (record) => records.put([record]),
    list: ({ action, subject, host, reader, beforeMs, limit }) =>
      records.list({
        where: {
          action,
          subject,
          host,
          atMs: { before: beforeMs },
          owner: reader === undefined ? undefined : [null, reader],
        },
        orderBy: 'atMs',
        descending: true,
        limit,
      }),
    prune: (beforeMs) => records.remove({ atMs: { before: beforeMs } }),
  }
}
