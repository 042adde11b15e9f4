import type { AuditRecord } from '#proto/audit.ts'

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
