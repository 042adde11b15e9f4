import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { mcp, McpInventory, McpTool } from '#proto/mcp.ts'
import type { Tool } from '#shared/tools/tool.ts'
import type { CallTool } from './call-tool.ts'
import { prompts } from './prompts/prompts.ts'
import { toShortJsonSchema } from './protocol/register-tools.ts'
import { createResourceUris, hostResources, staticResources } from './resources/resources.ts'
import { tools } from './tools/index.ts'

interface HandlersOptions {
  offer: McpInventory
  tools: readonly Tool[]
  callTool: CallTool
  http: ServiceHandlers<typeof mcp>['http']
}

/** Returns the handlers of the MCP server on the bus. */
export const createMcpHandlers = ({ offer, tools, callTool, http }: HandlersOptions): ServiceHandlers<typeof mcp> => {
  let listed: McpTool[] | undefined
  return {
    http,
    offer: async () => offer,
    tools: async () => (listed ??= tools.map(toListedTool)),
    call: async ({ name, arguments: input, hostKey }, call) => {
      const tool = tools.find((each) => each.name === name)
      if (tool) return callTool(tool, input, call, { agent: { hostKey } })
      throw new ServiceError(
        'not-found',
        `unknown tool "${name}"; available: ${tools.map((each) => each.name).join(', ')}`,
      )
    },
  }
}

const toListedTool = ({ name, title, description, input, core }: Tool): McpTool => ({
  name,
  title,
  description,
  inputSchema: toShortJsonSchema(input, 'input'),
  core,
})

interface InventorySource {
  name: string
  title: string
  description: string
}

const toInventoryEntry = ({ name, title, description }: InventorySource) => ({ name, title, description })

/** Names and descriptions of the tools, resources and prompts of the server. */
export const mcpInventory: McpInventory = {
  tools: tools.map(toInventoryEntry),
  resources: [
    ...staticResources.map(({ uri, title }) => ({ uri, title })),
    ...hostResources.flatMap(({ path, title }) =>
      Object.values(createResourceUris(path)).map((uri) => ({ uri, title })),
    ),
  ],
  prompts: prompts.map(toInventoryEntry),
}
