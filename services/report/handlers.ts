import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { pruneMethods } from '#proto/retention.ts'
import type { report } from '#proto/report.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { createAdviseHandler } from './advisor/query-advice.ts'
import { createStructureAdviceHandlers } from './advisor/structure-advice.ts'
import { settings } from './config.ts'
import { createForecastHandlers, createInsightHandlers, type InsightDeps } from './insights/handlers.ts'
import { readWorstFindings } from './insights/scan-runs.ts'
import { createReportHandlers, type ReportDeps } from './reports/handlers.ts'

/** Returns the handlers of the `report` contract. */
export const createReportServiceHandlers = (deps: InsightDeps & ReportDeps): ServiceHandlers<typeof report> => ({
  advise: createAdviseHandler(deps),
  worstFindings: () => readWorstFindings(deps.store, deps.clock.now()),
  prune: createPruneHandler(deps),
  ...createInsightHandlers(deps),
  ...createReportHandlers(deps),
  ...createForecastHandlers(deps),
  ...createStructureAdviceHandlers(deps),
})

const dayMs = 86_400_000

/** Removes insights and reports that are older than their retention. */
const createPruneHandler =
  ({
    env,
    clock,
    insightStore,
    reports,
  }: InsightDeps & ReportDeps): ServiceHandlers<Service<typeof pruneMethods>>['prune'] =>
  async (_input, call) => {
    const { SVC_INSIGHTS_DAYS: insightDays, SVC_REPORT_DAYS: reportDays } = parseSettings(settings, env)
    const before = (days: number): number => clock.now() - days * dayMs
    return {
      removed: {
        insights: await insightStore.store.prune(before(insightDays), call),
        reports: await reports.prune(before(reportDays)),
      },
    }
  }
