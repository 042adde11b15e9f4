import { z } from 'zod'
import {
  HostReport,
  hostReportMethods,
  ListedReport,
  ReportDeliveryStatus,
  reportFormats,
  ReportId,
} from '../host-report.ts'
import { maxReportDays } from '../report-rows.ts'
import { createResponseSchema } from './response.ts'
import {
  windowOrderIssue,
  bodyHostId,
  isWindowOrdered,
  hostId,
  bodySeconds,
  TimeZone,
  deriveIntegerParameter,
} from './parameters.ts'

const { limit } = hostReportMethods.reports.input.shape

/** Query parameters of `GET /api/v1/reports`: reports of one host or of all. */
export const ReportsQuery = z.strictObject({
  hostId: hostId.optional(),
  limit: deriveIntegerParameter(limit).default(limit.parse(undefined)),
})

/** `hostId` is null if the host is no longer configured. */
const hostIdField = { hostId: z.int().nullable() }
const ShownListing = ListedReport.omit({ hostKey: true }).extend(hostIdField)
const ShownReport = HostReport.omit({ hostKey: true, settings: true }).extend(hostIdField)

/** Response of `GET /api/v1/reports`. */
export const ReportsResponse = createResponseSchema(z.array(ShownListing), z.object({ count: z.int() }))

/** Path parameters of requests about one report. */
export const ReportPath = z.object({ id: ReportId })
const formats = ['json', ...reportFormats] as const
/** Query parameters of `GET /api/v1/reports/{id}`. Without `format`, the `Accept` header decides. */
export const ReportQuery = z.strictObject({
  format: z.enum(formats, `must be one of ${formats.join(', ')}`).optional(),
})
/** Response of `GET /api/v1/reports/{id}`. */
export const ReportResponse = createResponseSchema(ShownReport, z.object({ delivery: ReportDeliveryStatus }))

/** Body of `POST /api/v1/reports`; `from` and `to` are date-times or epoch seconds. */
export const BuildReportRequest = z
  .strictObject({
    hostId: bodyHostId.default(0),
    from: bodySeconds,
    to: bodySeconds,
    timezone: TimeZone.optional(),
  })
  .refine(isWindowOrdered, windowOrderIssue)
  .refine(({ from, to }) => to - from <= maxReportDays * 86_400, {
    path: ['to'],
    message: `must be at most ${maxReportDays} days later than from`,
  })
/** Response of `POST /api/v1/reports`. */
export const BuildReportResponse = createResponseSchema(ShownReport, z.object({}))
