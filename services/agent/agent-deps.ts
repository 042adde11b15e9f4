import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { openTransitKeyPair, type TransitKeyPair } from '#shared/seal/transit.ts'
import { openServiceDatabase } from '#shared/store/sql/service-database.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Tracer } from '#shared/telemetry/telemetry.ts'
import type { Clock } from '#shared/time/clock.ts'
import { type ApprovalRequests, openApprovalRequests } from './approvals/approval-requests.ts'
import { agentSettings } from './config.ts'
import { type Conversations, openConversations } from './conversations/conversations.ts'
import { type EgressRequests, openEgressRequests } from './egress/egress-requests.ts'
import { type ExternalTools, openExternalTools } from './external-tools/external-tools.ts'
import { openMcpToolSource, type ToolSource, combineToolSources, type AgentTool } from './tool-sources.ts'
import { type Models, openModels } from './models/models.ts'
import { openSavedModelSettings, type SavedModelSettings } from './models/saved-settings.ts'
import type { RunLimits } from './runs/run.ts'
import { type Runs, openRuns } from './runs/runs.ts'
import { type Skills, openSkills } from './skills/skills.ts'
import { agentTools, postgresTools, repldbTools } from './tools/index.ts'
import { createLoadSkillTool } from './tools/load-skill.ts'

/** The dependencies of the agent's handlers. */
export interface AgentDeps {
  env: Environment
  clock: Clock
  log: Logger
  tracer: Tracer
  clients: {
    query: ServiceClient<typeof query>
    report: ServiceClient<typeof report>
  }
  models: Models
  savedModels: SavedModelSettings
  transit: TransitKeyPair
  skills: Skills
  external: ExternalTools
  conversations: Conversations
  runs: Runs
  approvalRequests: ApprovalRequests
  egress: EgressRequests
  toolsFor: ToolSource
  metrics: AgentMetrics
}

/** Share of the shutdown grace period that runs may use. Readers fetch the final events in the remaining time. */
const runGraceShare = 0.6

/** Overrides with which tests add tools and change the limits of runs. */
export interface AgentOverrides {
  tools?: readonly AgentTool[]
  limits?: Partial<RunLimits>
}

/** Opens the dependencies of the handlers. The caller disposes of `runs`; the stack `opened` disposes of the rest. */
export const openAgentDeps = async (
  context: ServiceContext,
  { tools = [], limits = {} }: AgentOverrides,
  opened: AsyncDisposableStack,
): Promise<AgentDeps> => {
  const { env, bus, clock, net, store } = context
  const { log, metrics, tracer } = context.telemetry
  const clients = {
    query: bus.client(query),
    report: bus.client(report),
  }
  const skills = await openSkills()
  const database = await openServiceDatabase('agent', context, opened)
  const savedModels = await openSavedModelSettings({ env, net, database, clock, log })
  const models = opened.use(openModels({ ...savedModels, clock, store, log, tracer }))
  const conversations = opened.use(openConversations({ env, net, clock, log, models }))
  const external = opened.use(openExternalTools({ env, net, clock, log }))
  const graceMs = () => parseSettings(processSettings, env).SHUTDOWN_GRACE_MS * runGraceShare
  const runs = openRuns({ instance: bus.instance, graceMs, limits })
  const mcpTools = openMcpToolSource(bus.client(mcp), clock)
  const from: ToolSource[] = [
    async () => [...tools, createLoadSkillTool(skills), ...agentTools],
    async (_question, call) => ((await clients.query.postgresOffered({}, call)).isOffered ? postgresTools : []),
    async (_question, call) => ((await mayReadReplication(env, clients.query, call)) ? repldbTools : []),
    (_question, call) => mcpTools(call),
    ({ userServers }, call) => external.tools(userServers, call),
  ]
  return {
    env,
    clock,
    log,
    tracer,
    clients,
    models,
    savedModels,
    transit: openTransitKeyPair(store, 'agent:transit-key'),
    skills,
    external,
    conversations,
    runs,
    approvalRequests: openApprovalRequests(),
    egress: openEgressRequests(),
    toolsFor: combineToolSources({ env, from, log }),
    metrics: openAgentMetrics(metrics, () => runs.running),
  }
}

/** Returns whether a replication service is configured and the agent may read from it. */
const mayReadReplication = async (
  env: Environment,
  client: ServiceClient<typeof query>,
  call: CallContext,
): Promise<boolean> =>
  parseSettings(agentSettings, env).SVC_FEATURE_REPLDB_AGENT && (await client.repldbOffer({}, call)).isConfigured

/** Records the Prometheus metrics of answers. */
interface AgentMetrics {
  ended(answer: { outcome: string; provider: string; seconds: number; inputTokens: number; outputTokens: number }): void
}

const openAgentMetrics = (registry: Registry, running: () => number): AgentMetrics => {
  const answers = metrics.agentAnswers(registry)
  const tokens = metrics.agentTokens(registry)
  const duration = metrics.agentAnswerDuration(registry)
  metrics.agentRuns(registry, () => [{ labels: {}, value: running() }])
  return {
    ended({ outcome, provider, seconds, inputTokens, outputTokens }) {
      answers.inc({ outcome, provider })
      tokens.inc({ direction: 'input', provider }, inputTokens)
      tokens.inc({ direction: 'output', provider }, outputTokens)
      duration.observe({ outcome }, seconds)
    },
  }
}
