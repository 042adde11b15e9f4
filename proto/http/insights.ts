import { z } from 'zod'
import { AwaitedForecast, Forecast } from '../forecasts.ts'
import { Insight, InsightBackend, InsightId, InsightRun, insightSeverities } from '../insights.ts'
import { answer } from './answer.ts'
import { bodyHostId, hostId, whole, yesOrNo } from './parameters.ts'

const severity = z.enum(insightSeverities, `must be one of ${insightSeverities.join(', ')}`).optional()
const lastHours = whole(1, 8_760).default(168)
const limit = whole(1, 500).default(100)

/** `GET /api/v1/insights`: those that were dismissed only with `dismissed=1`. */
export const InsightsQuery = z.strictObject({
  hostId: hostId.default(0),
  lastHours,
  severity,
  dismissed: yesOrNo.default(false),
  limit,
})
/** An insight as callers see it; `link` leads to a page of the product, with the host, and is null where there is none. */
export const ShownInsight = Insight.omit({ hostKey: true }).extend({
  link: z.string().nullable(),
  hostId: z.int(),
  host: z.string(),
})
export type ShownInsight = z.infer<typeof ShownInsight>
/** Its answer. */
export const InsightsAnswer = answer(z.array(ShownInsight), z.object({ count: z.int() }))

/** `GET /api/v1/findings`; the specification names its parameter `host`. */
export const FindingsQuery = z.strictObject({ host: hostId.default(0), lastHours, severity, limit })
/** Its answer, literally. */
export const FindingsAnswer = z.object({ findings: z.array(ShownInsight), count: z.int() })

/** `GET /api/v1/insights/backend`, literally. */
export const InsightBackendAnswer = z.object({ backend: InsightBackend })

/** Answer of `GET /api/v1/insights/status`: where insights are kept, why not elsewhere, and what came of the last run. */
export const InsightStatusAnswer = answer(
  z.object({
    backend: InsightBackend,
    reason: z.string().nullable(),
    detectors: z.array(z.string()),
    lastRun: InsightRun.nullable(),
  }),
  z.object({}),
)

/** `POST /api/v1/insights/generate` */
export const GenerateInsightsRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  force: z.boolean().default(false),
})
/** Its answer; `ran` is false when the last run is too short ago. */
export const GenerateInsightsAnswer = answer(
  z.array(ShownInsight),
  z.object({ count: z.int(), ran: z.boolean(), run: InsightRun.nullable() }),
)

/** `POST /api/v1/insights/dismiss` */
export const DismissInsightRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  id: InsightId,
  dismissed: z.boolean().default(true),
})
/** Its answer. */
export const DismissInsightAnswer = answer(ShownInsight, z.object({}))

/** Answer of `GET /api/v1/insights/forecast`: ranges of days, in `metadata.notes` what could not be told, and in `awaited` which disks lack history. */
export const ForecastAnswer = answer(
  z.array(Forecast),
  z.object({ notes: z.array(z.string()), awaited: z.array(AwaitedForecast) }),
)
/** Answer of `GET /api/v1/insights/anomalies`. */
export const AnomaliesAnswer = answer(z.array(ShownInsight), z.object({ notes: z.array(z.string()) }))
