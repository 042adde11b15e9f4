import { queryOptions } from '@tanstack/svelte-query'
import { call, buildHref, type RouteBody } from './call.ts'

export const reportsKey = ['reports'] as const

/** Query for the stored reports of one host, newest first. */
export const reportsQuery = (host: number) =>
  queryOptions({
    queryKey: [...reportsKey, host],
    queryFn: ({ signal }) => call('GET /api/v1/reports', { query: { hostId: host }, signal }),
  })

export const buildReport = (body: RouteBody<'POST /api/v1/reports'>) => call('POST /api/v1/reports', { body })

/** Returns the address of a report, as a printable page or as Markdown. */
export const getReportHref = (id: string, format: 'html' | 'markdown'): string =>
  buildHref('GET /api/v1/reports/{id}', { path: { id }, query: { format } })
