import { queryOptions } from '@tanstack/svelte-query'
import { call, type RouteData, type RouteParameters } from './call.ts'

export type AuditRecord = RouteData<'GET /api/v1/audit'>[number]

/** The query parameters of the audit route. */
export type AuditFilter = RouteParameters<'GET /api/v1/audit'>

const fetchRecords = (filter: AuditFilter, signal?: AbortSignal) =>
  call('GET /api/v1/audit', { query: filter, ...(signal && { signal }) })

/** Query for audit records, newest first. */
export const auditQuery = (filter: AuditFilter) =>
  queryOptions({ queryKey: ['audit', filter], queryFn: ({ signal }) => fetchRecords(filter, signal) })

/** Records per request, and maximum number of requests per export. Larger exports should use the API directly. */
const recordsPerRequest = 1_000
const maxRequests = 10

/** Returns the audit records that match a filter, newest first, at most ten thousand. */
export const fetchAuditRecords = async (filter: AuditFilter): Promise<AuditRecord[]> => {
  const found: AuditRecord[] = []
  let before: number | null = null
  for (let page = 0; page < maxRequests; page++) {
    const { data, metadata } = await fetchRecords({ ...filter, before, limit: recordsPerRequest })
    found.push(...data)
    if (metadata.next === null) break
    before = metadata.next
  }
  return found
}
