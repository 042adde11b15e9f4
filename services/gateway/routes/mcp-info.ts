import { ServiceError } from '#proto/errors.ts'
import { McpInfo, ServerCard } from '#proto/http/mcp.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { mcpVersions } from '#proto/mcp.ts'
import type { Call } from '#proto/call.ts'
import { whenAvailable } from '#shared/when-available.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'
import { isOpenToAll } from '../tool-server/identify.ts'

const endpoint = '/api/mcp'

export const mcpInfo = getRoute({
  path: '/api/v1/mcp/info',
  doc: 'Whether the tool server answers, and the tools, resources and prompts that it offers',
  feature: 'MCP',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: McpInfo,
  handle: async ({ call, publicUrl }, gateway) => {
    const offer = await offerOf(gateway, call)
    const info = {
      status: offer ? ('connected' as const) : ('unavailable' as const),
      version: gateway.version,
      toolCount: offer?.tools.length ?? null,
      resourceCount: offer?.resources.length ?? null,
      promptCount: offer?.prompts.length ?? null,
      offer: offer ?? null,
    }
    return success(info, { url: `${publicUrl()}${endpoint}` })
  },
})

/** That the tool server does not run is an answer here like any other. */
const offerOf = ({ mcp }: Gateway, call: Call) => whenAvailable(() => mcp.offer({}, call))

const fixed = { listChanged: false }

export const serverCard = getRoute({
  path: '/.well-known/mcp/server-card.json',
  doc: 'What the tool server is, where it is, and what it speaks',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: ServerCard,
  keptForSeconds: 3_600,
  handle: async ({ publicUrl }, gateway) => {
    if (!gateway.policy().permissions.MCP.enabled) throw new ServiceError('not-found', 'there is no tool server here')
    const { version } = gateway
    const url = `${publicUrl()}${endpoint}`
    return {
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'io.watchhouse/watchhouse',
      title: 'Watchhouse',
      description: 'Read-only access of models to monitored ClickHouse hosts',
      version,
      serverInfo: { name: 'watchhouse', title: 'Watchhouse', version },
      remotes: [{ type: 'streamable-http' as const, url, supportedProtocolVersions: [...mcpVersions] }],
      transport: { type: 'streamable-http' as const, endpoint },
      capabilities: { tools: fixed, resources: fixed, prompts: fixed },
      authentication: { required: !isOpenToAll(gateway), schemes: ['bearer'] },
    }
  },
})
