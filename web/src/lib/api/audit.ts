import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { AuditAnswer } from '#proto/http/audit.ts'
import { requestJson } from './request.ts'

type Answer = z.infer<typeof AuditAnswer>
export type AuditRecord = Answer['data'][number]

/** Which records are wanted: parameters of the route that are given. */
export type AuditFilter = Readonly<Record<string, string>>

const ask = (filter: AuditFilter, signal?: AbortSignal) =>
  requestJson<Answer>(`/api/v1/audit?${new URLSearchParams(filter)}`, signal ? { signal } : {})

/** Who did what, the newest first. */
export const auditQuery = (filter: AuditFilter) =>
  queryOptions({ queryKey: ['audit', filter], queryFn: ({ signal }) => ask(filter, signal) })

/** Records of one request, and requests for one file: more than this is for a program to fetch. */
const pageRecords = 1_000
const mostPages = 10

/** Every record that a filter leaves, up to ten thousand. */
export const wholeAudit = async (filter: AuditFilter): Promise<AuditRecord[]> => {
  const found: AuditRecord[] = []
  let before: Record<string, string> = {}
  for (let page = 0; page < mostPages; page++) {
    const { data, metadata } = await ask({ ...filter, ...before, limit: String(pageRecords) })
    found.push(...data)
    if (metadata.next === null) break
    before = { before: String(metadata.next) }
  }
  return found
}
