import { AuditAnswer, AuditQuery } from '#proto/http/audit.ts'
import { pageOf } from '../audit/page.ts'
import { mayManage } from '../features/may-manage.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

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
