import type { Logger } from 'pino'
import type { agent } from '#proto/agent.ts'
import type { ServiceClient, ServiceHandlers } from '#proto/contract.ts'
import type { mcp } from '#proto/mcp.ts'
import type { Tracer } from '#shared/telemetry/telemetry.ts'
import type { RunningCalls } from './running-calls.ts'
import type { ServerOptions } from './server.ts'

interface EndpointOptions extends Omit<ServerOptions, 'offerSkills'> {
  agent: ServiceClient<typeof agent>
  runningCalls: RunningCalls
  tracer: Tracer
  log: Logger
}

/** The handler of MCP requests over HTTP. */
export interface McpEndpoint extends AsyncDisposable {
  answer: ServiceHandlers<typeof mcp>['http']
}

/** Returns the endpoint. It loads the MCP library on the first request, because the library takes 11 MB of memory. */
export const openEndpointOnDemand = (options: EndpointOptions): McpEndpoint => {
  let opening: Promise<McpEndpoint> | undefined
  return {
    answer: async (input, call) => {
      opening ??= openEndpoint(options)
      const endpoint = await opening
      return endpoint.answer(input, call)
    },
    async [Symbol.asyncDispose]() {
      const endpoint = await opening
      await endpoint?.[Symbol.asyncDispose]()
    },
  }
}

const openEndpoint = async ({
  agent,
  log,
  runningCalls,
  tracer,
  ...options
}: EndpointOptions): Promise<McpEndpoint> => {
  const [{ openHttpHandler: openHttp }, { createServerFactory }, { openSkillRegistration: openSkillOffer }] =
    await Promise.all([import('./http.ts'), import('./server.ts'), import('../skills/skills.ts')])
  const serverFor = createServerFactory({ ...options, offerSkills: openSkillOffer(agent) })
  const sendsNotifications = options.further?.sendsNotifications ?? false
  return openHttp({ serverFor, sendsNotifications, runningCalls, tracer, log })
}
