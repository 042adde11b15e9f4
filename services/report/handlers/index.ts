import type { Client, Handlers, Service } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { worstOfHosts } from '../insights/runs.ts'
import { advise } from './advise.ts'
import { insightHandlers, type InsightParts } from './insights.ts'
import { prune } from './prune.ts'

/** What the handlers work with. */
export interface Parts {
  env: Environment
  clock: Clock
  query: Client<typeof query>
}

/** What of the contract there is in this release. */
export type Served = Omit<(typeof report)['methods'], 'weekly'>

/** One file per method of the contract, or per topic. */
export const handlers = (parts: InsightParts): Handlers<Service<Served>> => ({
  advise: advise(parts),
  worstFindings: () => worstOfHosts(parts.store, parts.clock.now()),
  prune: prune(parts),
  ...insightHandlers(parts),
})
