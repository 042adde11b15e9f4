import { z } from 'zod'
import { maxHours } from '../time-limits.ts'
import { PendingForecast, Forecast } from '../forecasts.ts'
import { Insight, InsightBackend, InsightId, InsightScan, insightSeverities } from '../insights.ts'
import { createResponseSchema } from './response.ts'
import { bodyHostId, booleanParameter, createIntegerParameter, deprecated, hostId } from './parameters.ts'

const severity = z.enum(insightSeverities, `must be one of ${insightSeverities.join(', ')}`).optional()
const lastHours = createIntegerParameter(1, maxHours).default(168)
const limit = createIntegerParameter(1, 500).default(100)

/** Query parameters of `GET /api/v1/insights`; `dismissed=1` includes dismissed insights. */
export const InsightsQuery = z.strictObject({
  hostId: hostId.default(0),
  lastHours,
  severity,
  dismissed: booleanParameter.default(false),
  limit,
})
/** An insight in responses. `link` is the path of a page with details, including the host; null if there is none. */
export const InsightView = Insight.omit({ hostKey: true }).extend({
  link: z.string().nullable(),
  hostId: z.int(),
  host: z.string(),
})
export type InsightView = z.infer<typeof InsightView>
/** Response of `GET /api/v1/insights`. */
export const InsightsResponse = createResponseSchema(z.array(InsightView), z.object({ count: z.int() }))

/** Query parameters of `GET /api/v1/findings`. As specified, the host parameter is `host` and not `hostId`. */
export const FindingsQuery = z.strictObject({ host: hostId.default(0), lastHours, severity, limit })
/** Response of `GET /api/v1/findings`. `findings` repeats `data`, and `count` that of the metadata. */
export const FindingsResponse = createResponseSchema(z.array(InsightView), z.object({ count: z.int() })).extend({
  findings: z.array(InsightView).meta(deprecated),
  count: z.int().meta(deprecated),
})

/** Response of `GET /api/v1/insights/backend`, exactly as specified. */
export const InsightBackendResponse = z.object({ backend: InsightBackend })

/**
 * Response of `GET /api/v1/insights/status`: the store of insights, why it differs from the configured one, and the
 * last scan.
 */
export const InsightStatusResponse = createResponseSchema(
  z.object({
    backend: InsightBackend,
    reason: z.string().nullable(),
    detectors: z.array(z.string()),
    lastRun: InsightScan.nullable(),
  }),
  z.object({}),
)

/** Body of `POST /api/v1/insights/generate`. */
export const GenerateInsightsRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  force: z.boolean().default(false),
})
/** Response of `POST /api/v1/insights/generate`; `ran` is false if the last scan is too recent. */
export const GenerateInsightsResponse = createResponseSchema(
  z.array(InsightView),
  z.object({ count: z.int(), ran: z.boolean(), run: InsightScan.nullable() }),
)

/** Body of `POST /api/v1/insights/dismiss`. */
export const DismissInsightRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  id: InsightId,
  dismissed: z.boolean().default(true),
})
/** Response of `POST /api/v1/insights/dismiss`. */
export const DismissInsightResponse = createResponseSchema(InsightView, z.object({}))

/**
 * Response of `GET /api/v1/insights/forecast`: forecasts as ranges of days. `metadata.notes` explain missing data, and
 * `awaited` lists disks without enough history.
 */
export const ForecastResponse = createResponseSchema(
  z.array(Forecast),
  z.object({ notes: z.array(z.string()), awaited: z.array(PendingForecast) }),
)
/** Response of `GET /api/v1/insights/anomalies`. */
export const AnomaliesResponse = createResponseSchema(z.array(InsightView), z.object({ notes: z.array(z.string()) }))
