import type { Logger } from 'pino'
import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Conversations } from './conversations/open.ts'
import type { EgressRequests } from './egress/egress-requests.ts'
import type { ExternalTools } from './external/open.ts'
import type { AgentMetrics } from './metrics.ts'
import type { Models } from './models/open.ts'
import type { Runs } from './runs/runs.ts'
import type { Skills } from './skills/open.ts'
import type { Toolmaker } from './toolmaker.ts'
import type { Wishes } from './approvals/wishes.ts'

/** What the handlers of the agent work with. */
export interface Parts {
  env: Environment
  clock: Clock
  log: Logger
  clients: {
    query: Client<typeof query>
    report: Client<typeof report>
  }
  models: Models
  skills: Skills
  external: ExternalTools
  conversations: Conversations
  runs: Runs
  wishes: Wishes
  egress: EgressRequests
  toolsFor: Toolmaker
  metrics: AgentMetrics
}
