import type { Client, Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { worstOfHosts } from '../insights/runs.ts'
import { advise } from './advise.ts'
import { forecastHandlers } from './forecasts.ts'
import { insightHandlers, type InsightParts } from './insights.ts'
import { prune } from './prune.ts'
import { structureAdviceHandlers } from './structure-advice.ts'
import { reportHandlers, type ReportParts } from './reports.ts'

/** What the handlers work with. */
export interface Parts {
  env: Environment
  clock: Clock
  query: Client<typeof query>
}

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
