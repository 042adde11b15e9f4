import { agent } from '#proto/agent.ts'
import { alerts } from '#proto/alerts.ts'
import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import { processSettings } from '#shared/config/process.ts'
import { read } from '#shared/config/setting.ts'
import type { Context, Running, Start } from '#shared/service.ts'
import { openWishes } from './approvals/wishes.ts'
import { openConversations } from './conversations/open.ts'
import { openExternalTools } from './external/open.ts'
import { handlers } from './handlers/index.ts'
import { mcpTools } from './loop/mcp-tools.ts'
import { openAgentMetrics } from './metrics.ts'
import { openModels } from './models/open.ts'
import type { RunLimits } from './runs/run.ts'
import { openRuns } from './runs/runs.ts'
import type { AgentTool } from './tool.ts'
import { openToolmaker, type Toolmaker } from './toolmaker.ts'

/** Of the time to stop: what is left is for telling readers how it ended. */
const finishingShare = 0.6
/** Readers of runs wait in their calls, so there are many of those. */
const maxInFlight = 4_096

/** What a test adds. */
interface Further {
  tools?: readonly AgentTool[]
  limits?: Partial<RunLimits>
}

/** Answers questions in words. */
export const start: Start = (context) => startWith(context)

/** Answers with more tools than those of the product. */
export const startWith = async (
  { env, bus, clock, net, store, telemetry: { log, metrics } }: Context,
  { tools = [], limits = {} }: Further = {},
): Promise<Running> => {
  await using opened = new AsyncDisposableStack()
  const clients = {
    query: bus.client(query),
    report: bus.client(report),
    mcp: bus.client(mcp),
    alerts: bus.client(alerts),
  }
  const models = opened.use(openModels({ env, net, clock, store, log }))
  const conversations = opened.use(openConversations({ env, net, clock, log, models }))
  const external = opened.use(openExternalTools({ env, net, clock, log }))
  const wishes = openWishes()
  const graceMs = () => read(processSettings, env).SHUTDOWN_GRACE_MS * finishingShare
  const runs = openRuns({ instance: bus.instance, graceMs, limits })
  const from: Toolmaker[] = [
    async () => tools,
    (_question, call) => mcpTools(clients.mcp, call),
    ({ userServers }, call) => external.tools(userServers, call),
  ]
  const toolsFor = openToolmaker({ env, from, log })
  const counted = openAgentMetrics(metrics, () => runs.running)
  const parts = { env, clock, log, clients, models, external, conversations, runs, wishes, toolsFor, metrics: counted }
  opened.use(await bus.serve(agent, handlers(parts), { maxInFlight, load: () => runs.running }))
  // Ended first, so that whoever reads a run hears how it ends.
  opened.use(runs)
  log.info('agent serves')
  return opened.move()
}
