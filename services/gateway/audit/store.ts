import { type AuditRecord, broughtMark } from '#proto/audit.ts'
import { forgetOldest } from '#shared/memory/newest.ts'

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
export const personalActions = [
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
export const personKinds = ['user', 'key'] as const

/** Whether a record may be shown to a reader: what a person did to its own things only to that person. */
const isVisibleTo = (reader: string, { actor, action, host }: AuditRecord): boolean => {
  const isOfAnother = personKinds.some((kind) => kind === actor.kind) && actor.subject !== reader
  const isPersonal = personalActions.some((each) => each === action) || host?.endsWith(broughtMark) === true
  return !(isOfAnother && isPersonal)
}

const most = 10_000

/** Records of this process alone, the newest ten thousand; a restart forgets them. */
export const memoryAudit = (): AuditStore => {
  const records = new Map<string, AuditRecord>()
  const forget = forgetOldest(records, most)
  return {
    async put(record) {
      records.set(record.id, record)
      forget()
    },
    async list({ action, subject, host, reader, beforeMs = Infinity, limit }) {
      const wanted = [...records.values()].filter(
        (record) =>
          record.atMs < beforeMs &&
          (action === undefined || record.action === action) &&
          (subject === undefined || record.actor.subject === subject) &&
          (host === undefined || record.host === host) &&
          (reader === undefined || isVisibleTo(reader, record)),
      )
      return wanted.toSorted((one, other) => other.atMs - one.atMs).slice(0, limit)
    },
    async prune(beforeMs) {
      const old = [...records.values()].filter(({ atMs }) => atMs < beforeMs)
      for (const { id } of old) records.delete(id)
      return old.length
    },
  }
}
