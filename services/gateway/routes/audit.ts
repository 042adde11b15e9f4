import { type AuditRecord, formatAuditHostName } from '#proto/audit.ts'
import { AuditResponse, AuditQuery } from '#proto/http/audit.ts'
import { canManageUsers } from '../features/authorization.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { defineGetRoute } from '../http-route.ts'

export const auditRoute = defineGetRoute({
  path: '/api/v1/audit',
  doc: 'Lists audit records, newest first. Records about personal connections, subscriptions, conversations and keys are visible to their owner and to callers who may manage users',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: AuditQuery,
  answer: AuditResponse,
  handle: async ({ query: { before, cursor, limit, hostId, host: name, ...filter }, call }, gateway) => {
    const host = hostId === undefined ? name : formatAuditHostName(await gateway.hosts.find(hostId))
    const reader = (await canManageUsers(gateway, call)) ? undefined : call.identity.subject
    const found = await gateway.audit.list({ ...filter, host, reader, beforeMs: cursor ?? before, limit: limit + 1 })
    const { records, next } = splitAuditPage(found, limit)
    return createSuccessBody(records, { next, nextCursor: next === null ? null : String(next) })
  },
})

interface Page {
  records: AuditRecord[]
  /** `before` of the next page, in epoch milliseconds; null on the last page. */
  next: number | null
}

/**
 * Splits `limit + 1` records, newest first, into a page and the cursor of the next one. The cursor is a time, so
 * records of the same millisecond are kept on one page, unless they exceed a page.
 */
export const splitAuditPage = (found: readonly AuditRecord[], limit: number): Page => {
  const left = found[limit]
  if (left === undefined) return { records: [...found], next: null }
  const full = found.slice(0, limit)
  const whole = full.filter(({ atMs }) => atMs > left.atMs)
  const records = whole.length > 0 ? whole : full
  return { records, next: records.at(-1)?.atMs ?? null }
}
