import { AuditRecord, broughtMark } from '#proto/audit.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'

/** Which records of the audit are wanted, the newest first. */
export interface AuditFilter {
  /** Only those of this action, actor or host. */
  action?: string | undefined
  subject?: string | undefined
  host?: string | undefined
  /** Only those that began before, in epoch milliseconds. */
  beforeMs?: number | undefined
  /** Leaves out what belongs to another person than the one with this subject; undefined where the reader may see all of it. */
  reader?: string | undefined
  limit: number
}

/** Keeps the records of the audit. */
export interface AuditStore {
  /** Adds a record, or brings what is known of it up to date. */
  put(record: AuditRecord): Promise<void>
  list(filter: AuditFilter): Promise<AuditRecord[]>
  /** Removes what began before; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** Actions on what belongs to one person: connections, subscriptions, conversations, API keys and devices. */
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

/** Kinds of actors that are people; a person has the same subject with a session and with a key. */
const personKinds = ['user', 'key'] as const

/** Whose record it is when only its owner may see it: what a person did to its own things. */
const ownerOf = ({ actor, action, host }: AuditRecord): string | null => {
  const isPerson = personKinds.some((kind) => kind === actor.kind)
  const isPersonal = personalActions.some((each) => each === action) || host?.endsWith(broughtMark) === true
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

/** Opens the records of the audit: in the database all of them, without one the newest ten thousand of this process. */
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
