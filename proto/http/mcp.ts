import { z } from 'zod'
import { McpInventory } from '../mcp.ts'
import { createResponseSchema } from './response.ts'

/** Response of `GET /api/v1/mcp/info`. Counts and `offer` are null if the tool server does not respond. */
export const McpInfo = createResponseSchema(
  z.object({
    status: z.enum(['connected', 'unavailable']),
    version: z.string(),
    toolCount: z.int().nullable(),
    resourceCount: z.int().nullable(),
    promptCount: z.int().nullable(),
    offer: McpInventory.nullable(),
  }),
  z.object({ url: z.url() }),
)

const listCapability = z.object({ listChanged: z.boolean() })

/** Response of `GET /.well-known/mcp/server-card.json`, for registries and for clients before they connect. */
export const ServerCard = z.object({
  $schema: z.url(),
  /** Name in the MCP registry: reverse domain name, slash, server name. */
  name: z.string(),
  title: z.string(),
  description: z.string().max(100),
  version: z.string(),
  serverInfo: z.object({ name: z.string(), title: z.string(), version: z.string() }),
  remotes: z.array(
    z.object({ type: z.literal('streamable-http'), url: z.url(), supportedProtocolVersions: z.array(z.string()) }),
  ),
  transport: z.object({ type: z.literal('streamable-http'), endpoint: z.string() }),
  capabilities: z.object({ tools: listCapability, resources: listCapability, prompts: listCapability }),
  authentication: z.object({ required: z.boolean(), schemes: z.array(z.string()) }),
})
