import type { AuditRecord } from '#proto/audit.ts'
import { forgetOldest } from '#shared/newest.ts'
import { isVisibleTo } from './privacy.ts'
import type { AuditStore } from './store.ts'

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
