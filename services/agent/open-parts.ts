import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { read } from '#shared/config/setting.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { openWishes } from './approvals/wishes.ts'
import { agentSettings } from './config.ts'
import { openConversations } from './conversations/open.ts'
import { openEgressRequests } from './egress/egress-requests.ts'
import { openExternalTools } from './external/open.ts'
import { openMcpTools } from './loop/mcp-tools.ts'
import { openAgentMetrics } from './metrics.ts'
import { openModels } from './models/open.ts'
import type { Parts } from './parts.ts'
import type { RunLimits } from './runs/run.ts'
import { openRuns } from './runs/runs.ts'
import { openSkills } from './skills/open.ts'
import type { AgentTool } from './tool.ts'
import { agentTools, postgresTools, repldbTools } from './tools/index.ts'
import { loadSkill } from './tools/load-skill.ts'
import { openToolmaker, type Toolmaker } from './toolmaker.ts'

/** Of the time to stop: what is left is for telling readers how it ended. */
const finishingShare = 0.6

/** What a test adds. */
export interface Further {
  tools?: readonly AgentTool[]
  limits?: Partial<RunLimits>
}

/** Opens what the handlers work with; what must be released again is left to `opened`, except for the runs. */
export const openParts = async (
  { env, bus, clock, net, store, telemetry: { log, metrics } }: Context,
  { tools = [], limits = {} }: Further,
  opened: AsyncDisposableStack,
): Promise<Parts> => {
  const clients = {
    query: bus.client(query),
    report: bus.client(report),
  }
  const skills = await openSkills()
  const models = opened.use(openModels({ env, net, clock, store, log }))
  const conversations = opened.use(openConversations({ env, net, clock, log, models }))
  const external = opened.use(openExternalTools({ env, net, clock, log }))
  const graceMs = () => read(processSettings, env).SHUTDOWN_GRACE_MS * finishingShare
  const runs = openRuns({ instance: bus.instance, graceMs, limits })
  const mcpTools = openMcpTools(bus.client(mcp), clock)
  const from: Toolmaker[] = [
    async () => [...tools, loadSkill(skills), ...agentTools],
    async (_question, call) => ((await clients.query.postgresOffered({}, call)).isOffered ? postgresTools : []),
    async (_question, call) => ((await readsReplication(env, clients.query, call)) ? repldbTools : []),
    (_question, call) => mcpTools(call),
    ({ userServers }, call) => external.tools(userServers, call),
  ]
  return {
    env,
    clock,
    log,
    clients,
    models,
    skills,
    external,
    conversations,
    runs,
    wishes: openWishes(),
    egress: openEgressRequests(),
    toolsFor: openToolmaker({ env, from, log }),
    metrics: openAgentMetrics(metrics, () => runs.running),
  }
}

/** Whether the agent may read of a replication service, and there is one. */
const readsReplication = async (env: Environment, asked: Client<typeof query>, call: Call): Promise<boolean> =>
  read(agentSettings, env).SVC_FEATURE_REPLDB_AGENT && (await asked.repldbOffer({}, call)).isConfigured
