import type { AuditRecord } from '#proto/audit.ts'
import { AuditAnswer, AuditQuery } from '#proto/http/audit.ts'
import { mayManage } from '../features/refusal.ts'
import { success } from '../response/envelope.ts'
import { getRoute } from '../http-route.ts'

export const audit = getRoute({
  path: '/api/v1/audit',
  doc: 'Who did what to which host, when, and with which result; the newest first. What people did to their own connections, subscriptions, conversations and keys is shown to them, and to callers who may manage users',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: AuditQuery,
  answer: AuditAnswer,
  handle: async ({ query: { before, limit, ...filter }, call }, gateway) => {
    const reader = (await mayManage(gateway, call)) ? undefined : call.identity.subject
    const found = await gateway.audit.list({ ...filter, reader, beforeMs: before, limit: limit + 1 })
    const { records, next } = pageOf(found, limit)
    return success(records, { next })
  },
})

interface Page {
  records: AuditRecord[]
  /** Older records are those before this instant; null when there are none. */
  next: number | null
}

/**
 * A page of records, the newest first, of which one more than a page holds was asked for. It ends between two instants, because the next
 * one begins before an instant: what began at the same millisecond stands on one page, unless it fills more than one.
 */
export const pageOf = (found: readonly AuditRecord[], limit: number): Page => {
  const left = found[limit]
  if (left === undefined) return { records: [...found], next: null }
  const full = found.slice(0, limit)
  const whole = full.filter(({ atMs }) => atMs > left.atMs)
  const records = whole.length > 0 ? whole : full
  return { records, next: records.at(-1)?.atMs ?? null }
}
