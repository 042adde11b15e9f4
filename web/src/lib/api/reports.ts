import { queryOptions } from '@tanstack/svelte-query'
import { call, hrefOf, type Body } from './call.ts'

export const reportsKey = ['reports'] as const

/** Reports on one host that are kept, the newest first. */
export const reportsQuery = (host: number) =>
  queryOptions({
    queryKey: [...reportsKey, host],
    queryFn: ({ signal }) => call('GET /api/v1/reports', { query: { hostId: host }, signal }),
  })

export const buildReport = (body: Body<'POST /api/v1/reports'>) => call('POST /api/v1/reports', { body })

/** Where a report is read: as a page that can be printed, or as text. */
export const reportHref = (id: string, format: 'html' | 'markdown'): string =>
  hrefOf('GET /api/v1/reports/{id}', { path: { id }, query: { format } })
