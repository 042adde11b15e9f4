import { AuditAnswer, AuditQuery } from '#proto/http/audit.ts'
import { pageOf } from '../audit/page.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

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
    const { records, next } = pageOf(found, limit)
    return success(records, { next })
  },
})
