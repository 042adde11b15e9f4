import { agent } from '#proto/agent.ts'
import { mcp } from '#proto/mcp.ts'
import type { ServiceContext, RunningService, ServiceStarter } from '#shared/lifecycle/service.ts'
import packageFacts from '../../package.json' with { type: 'json' }
import { createToolCallAudit, createCallTool } from './call-tool.ts'
import { createMcpHandlers, mcpInventory } from './handlers.ts'
import { openEndpointOnDemand } from './protocol/open-on-demand.ts'
import { openRunningCalls } from './protocol/running-calls.ts'
import type { AdditionalTools } from './protocol/server.ts'
import { prompts } from './prompts/prompts.ts'
import { hostResources, staticResources } from './resources/resources.ts'
import { openToolContexts } from './tool-contexts.ts'
import { tools } from './tools/index.ts'

/** Starts the MCP server. */
export const start: ServiceStarter = (context) => startMcpService(context)

/** Starts the MCP server with additional tools, which only tests and benchmarks use. */
export const startMcpService = async (
  { env, bus, clock, telemetry }: ServiceContext,
  further?: AdditionalTools,
): Promise<RunningService> => {
  await using opened = new AsyncDisposableStack()
  const contextFor = openToolContexts({ env, bus, clock })
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
      runningCalls: opened.use(await openRunningCalls(bus)),
      tracer: telemetry.tracer,
      log: telemetry.log,
    }),
  )
  opened.use(await bus.serve(mcp, createMcpHandlers({ offer: mcpInventory, tools, callTool, http: endpoint.answer })))
  telemetry.log.info({ tools: tools.length }, 'mcp started')
  return opened.move()
}
