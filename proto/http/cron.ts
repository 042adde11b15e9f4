import { z } from 'zod'
import { Sweep } from '../alerts.ts'
import { pruneMethods } from '../prune.ts'
import { report } from '../report.ts'
import { answer } from './answer.ts'

/** What all cron routes ask: nothing; schedulers may say what they like, but not the secret. */
export const CronQuery = z.looseObject({})

/** `GET /api/cron/health-sweep`: what was done, or that sweeps are switched off. */
export const SweepAnswer = answer(
  z.union([Sweep.extend({ enabled: z.literal(true) }), z.object({ enabled: z.literal(false) })]),
  z.object({}),
)

/** `GET /api/cron/retention-prune`: what each service that is running has removed. */
export const PruneAnswer = answer(
  z.object({ removed: z.record(z.string(), pruneMethods.prune.output.shape.removed) }),
  z.object({}),
)

/** `GET /api/cron/weekly-report` */
export const WeeklyReportAnswer = answer(report.methods.weekly.output, z.object({}))
