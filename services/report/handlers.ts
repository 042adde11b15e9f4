import type { Handlers } from '#proto/contract.ts'
import type { report } from '#proto/report.ts'
import { advise } from './advisor/advise.ts'
import { structureAdviceHandlers } from './advisor/structure-advice.ts'
import { forecastHandlers, insightHandlers, type InsightParts, prune } from './insights/handlers.ts'
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
