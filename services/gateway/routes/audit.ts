import { AuditAnswer, AuditQuery } from '#proto/http/audit.ts'
import { getRoute } from '../route.ts'
import { success } from '../success.ts'

export const audit = getRoute({
  path: '/api/v1/audit',
  doc: 'Who did what to which host, when, and what came of it; the newest first',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: AuditQuery,
  answer: AuditAnswer,
  handle: async ({ query: { before, limit, ...filter } }, gateway) => {
    const found = await gateway.audit.list({ ...filter, beforeMs: before, limit: limit + 1 })
    const records = found.slice(0, limit)
    return success(records, { next: found.length > limit ? (records.at(-1)?.atMs ?? null) : null })
  },
})
