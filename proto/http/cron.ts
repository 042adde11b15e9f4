import { z } from 'zod'
import { SweepSummary } from '../alerts.ts'
import { pruneMethods } from '../retention.ts'
import { report } from '../report.ts'
import { createResponseSchema } from './response.ts'

/** Query parameters of cron routes. The routes define none, and ignore those that schedulers add. */
export const CronQuery = z.looseObject({})

/** Response of `GET /api/cron/health-sweep`: the result, or `enabled: false` if sweeps are disabled. */
export const SweepResponse = createResponseSchema(
  z.union([SweepSummary.extend({ enabled: z.literal(true) }), z.object({ enabled: z.literal(false) })]),
  z.object({}),
)

/** Response of `GET /api/cron/retention-prune`: removed entries by service and kind. */
export const PruneResponse = createResponseSchema(
  z.object({ removed: z.record(z.string(), pruneMethods.prune.output.shape.removed) }),
  z.object({}),
)

/** Response of `GET /api/cron/weekly-report`. */
export const WeeklyReportResponse = createResponseSchema(report.methods.weekly.output, z.object({}))
