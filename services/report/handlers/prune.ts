import type { Handlers, Service } from '#proto/contract.ts'
import type { pruneMethods } from '#proto/prune.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'
import type { InsightParts } from './insights.ts'
import type { ReportParts } from './reports.ts'

const dayMs = 86_400_000

/** Removes insights and reports that are older than the settings say. */
export const prune =
  ({ env, clock, kept, reports }: InsightParts & ReportParts): Handlers<Service<typeof pruneMethods>>['prune'] =>
  async (_input, call) => {
    const { SVC_INSIGHTS_DAYS: insightDays, SVC_REPORT_DAYS: reportDays } = read(settings, env)
    const before = (days: number): number => clock.now() - days * dayMs
    return {
      removed: {
        insights: await kept.store.prune(before(insightDays), call),
        reports: await reports.prune(before(reportDays)),
      },
    }
  }
