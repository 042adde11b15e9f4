import type { Handlers, Service } from '#proto/contract.ts'
import type { pruneMethods } from '#proto/prune.ts'
import type { report } from '#proto/report.ts'
import { read } from '#shared/config/setting.ts'
import { advise } from './advisor/advise.ts'
import { structureAdviceHandlers } from './advisor/structure-advice.ts'
import { settings } from './config.ts'
import { forecastHandlers, insightHandlers, type InsightParts } from './insights/handlers.ts'
import { worstOfHosts } from './insights/runs.ts'
import { reportHandlers, type ReportParts } from './reports/handlers.ts'

/** One file per method of the contract, or per topic. */
export const handlers = (parts: InsightParts & ReportParts): Handlers<typeof report> => ({
  advise: advise(parts),
  worstFindings: () => worstOfHosts(parts.store, parts.clock.now()),
  prune: prune(parts),
  ...insightHandlers(parts),
  ...reportHandlers(parts),
  ...forecastHandlers(parts),
  ...structureAdviceHandlers(parts),
})

const dayMs = 86_400_000

/** Removes insights and reports that are older than the settings say. */
const prune =
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
