import { agent } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { createHostCache } from '#shared/hosts/known-hosts.ts'
import type { ServiceContext, RunningService, ServiceStarter } from '#shared/lifecycle/service.ts'
import packageFacts from '../../package.json' with { type: 'json' }
import type { CreateToolContext } from './call-tool.ts'
import { createToolCallAudit, createCallTool } from './call-tool.ts'
import { settings } from './config.ts'
import { createMcpHandlers, mcpInventory } from './handlers.ts'
import { openEndpointOnDemand } from './protocol/open-on-demand.ts'
import type { AdditionalTools } from './protocol/server.ts'
import { prompts } from './prompts/prompts.ts'
import { hostResources, staticResources } from './resources/resources.ts'
import { tools } from './tools/index.ts'

const mcpIdentity: Identity = { kind: 'service', subject: 'mcp', features: 'all' }

/** Starts the MCP server. */
export const start: ServiceStarter = (context) => startMcpService(context)

/** Starts the MCP server with additional tools, which only tests and benchmarks use. */
export const startMcpService = async (
  { env, bus, clock, telemetry }: ServiceContext,
  further?: AdditionalTools,
): Promise<RunningService> => {
  await using opened = new AsyncDisposableStack()
  const clients = { query: bus.client(query), report: bus.client(report) }
  const hosts = createHostCache(clients.query, clock, mcpIdentity).all
  const settingsNow = () => parseSettings(settings, env)
  const contextFor: CreateToolContext = (call) => ({
    ...clients,
    hosts,
    clock,
    call,
    fullStatements: settingsNow().SVC_MCP_FULL_STATEMENTS,
  })
  const callTool = createCallTool({ contextFor, audit: createToolCallAudit(bus, clock), clock, telemetry })
  const endpoint = opened.use(
    openEndpointOnDemand({
      tools,
      facts: hostResources,
      references: staticResources,
      prompts,
      agent: bus.client(agent),
      version: packageFacts.version,
      callTool,
      contextFor,
      further,
      log: telemetry.log,
    }),
  )
  opened.use(await bus.serve(mcp, createMcpHandlers({ offer: mcpInventory, tools, callTool, http: endpoint.answer })))
  telemetry.log.info({ tools: tools.length }, 'mcp started')
  return opened.move()
}
