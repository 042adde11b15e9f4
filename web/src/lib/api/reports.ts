import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { BuildReportAnswer, BuildReportRequest, ReportsAnswer } from '#proto/http/reports.ts'
import { requestJson } from './request.ts'

const base = '/api/v1/reports'

export const reportsKey = ['reports'] as const

/** Reports on one host that are kept, the newest first. */
export const reportsQuery = (host: number) =>
  queryOptions({
    queryKey: [...reportsKey, host],
    queryFn: ({ signal }) => requestJson<z.infer<typeof ReportsAnswer>>(`${base}?hostId=${host}`, { signal }),
  })

export const buildReport = (body: z.input<typeof BuildReportRequest>) =>
  requestJson<z.infer<typeof BuildReportAnswer>>(base, { body })

/** Where a report is read: as a page that can be printed, or as text. */
export const reportHref = (id: string, format: 'html' | 'markdown'): string => `${base}/${id}?format=${format}`
