import { z } from 'zod'
import { Sweep } from '../alerts.ts'
import { pruneMethods } from '../prune.ts'
import { report } from '../report.ts'
import { answer } from './answer.ts'

/** Cron routes have no parameters and ignore those of schedulers, except a secret. */
export const CronQuery = z.looseObject({})

/** `GET /api/cron/health-sweep`: the result, or that sweeps are disabled. */
export const SweepResponse = answer(
  z.union([Sweep.extend({ enabled: z.literal(true) }), z.object({ enabled: z.literal(false) })]),
  z.object({}),
)

/** `GET /api/cron/retention-prune`: what each running service has removed. */
export const PruneResponse = answer(
  z.object({ removed: z.record(z.string(), pruneMethods.prune.output.shape.removed) }),
  z.object({}),
)

/** `GET /api/cron/weekly-report` */
export const WeeklyReportResponse = answer(report.methods.weekly.output, z.object({}))
