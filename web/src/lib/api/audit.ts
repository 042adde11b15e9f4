import { queryOptions } from '@tanstack/svelte-query'
import { call, type Data, type Query } from './call.ts'

export type AuditRecord = Data<'GET /api/v1/audit'>[number]

/** Which records are wanted: parameters of the route that are given. */
export type AuditFilter = Query<'GET /api/v1/audit'>

const ask = (filter: AuditFilter, signal?: AbortSignal) =>
  call('GET /api/v1/audit', { query: filter, ...(signal && { signal }) })

/** Who did what, the newest first. */
export const auditQuery = (filter: AuditFilter) =>
  queryOptions({ queryKey: ['audit', filter], queryFn: ({ signal }) => ask(filter, signal) })

/** Records of one request, and requests for one file: more than this is for a program to fetch. */
const pageRecords = 1_000
const mostPages = 10

/** Every record that a filter leaves, up to ten thousand. */
export const wholeAudit = async (filter: AuditFilter): Promise<AuditRecord[]> => {
  const found: AuditRecord[] = []
  let before: number | null = null
  for (let page = 0; page < mostPages; page++) {
    const { data, metadata } = await ask({ ...filter, before, limit: pageRecords })
    found.push(...data)
    if (metadata.next === null) break
    before = metadata.next
  }
  return found
}
