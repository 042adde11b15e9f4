import { z } from 'zod'
import { bytes, rpc, service, stream } from './contract.ts'
import { Evidence } from './evidence.ts'
import { HostKey } from './host.ts'

/** Longest body of a request to the tool server, in bytes. One of mostly quotes can be too long for the bus before, and is refused too. */
export const longestMcpBody = 512 * 1024

/** Longest answer that comes whole in its head, in bytes of text: as JSON it is six times as long at most, which a frame still holds. */
export const longestMcpWhole = 32 * 1024

/** Header fields of a request that the protocol reads; no other one reaches the tool server, and never a credential. */
export const mcpRequestHeaders = [
  'accept',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
] as const
/** Header fields of an answer that its caller may see. */
export const mcpAnswerHeaders = [
  'allow',
  'cache-control',
  'content-length',
  'content-type',
  'mcp-protocol-version',
] as const

/** Header fields by their lower-case names. */
export const McpHeaders = z.record(z.string().max(64), z.string().max(16_384))

/** Revisions of the protocol that are spoken, the newest first; the first of them needs no handshake. */
export const mcpVersions = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const

const Named = z.object({ name: z.string(), title: z.string(), description: z.string() })

/** All that the tool server offers, without schemas. `uri` has names in braces where it stands for many. */
export const McpOffer = z.object({
  tools: z.array(Named),
  resources: z.array(z.object({ uri: z.string(), title: z.string() })),
  prompts: z.array(Named),
})
export type McpOffer = z.infer<typeof McpOffer>

/** A tool as the agent offers it to a model; the schema is JSON Schema. */
export const McpTool = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  inputSchema: z.looseObject({}),
  /** Whether the model knows it from the start. */
  core: z.boolean().default(false),
})
export type McpTool = z.infer<typeof McpTool>

/** What came of a tool: its facts, or with `isError` a sentence about why there are none. */
export const McpToolResult = z.object({
  isError: z.boolean(),
  /** For whoever reads rather than parses; at most 2,000 characters when it is an error. */
  text: z.string(),
  /** As the tool's `outputSchema` says; null when it failed. */
  structured: z.looseObject({}).nullable(),
  /** The statements behind it, in the order of their answers; programs that speak the protocol are not told. */
  evidence: z.array(Evidence).max(64).optional(),
})
export type McpToolResult = z.infer<typeof McpToolResult>

const common = { feature: 'MCP' } as const

/** Tools for models: spoken to in the Model Context Protocol through the gateway, or called by the agent. */
export const mcp = service('mcp', {
  http: stream({
    doc: 'One HTTP request in either era of the protocol, and its answer as it comes.',
    callers: ['gateway'],
    ...common,
    input: z.object({
      method: z.enum(['GET', 'POST', 'DELETE']),
      headers: McpHeaders,
      /** As it came, since only the tool server reads it. */
      body: z.string().max(longestMcpBody),
      /** Whether the head may hold the whole of a short answer, which spares the frames. */
      wholeInHead: z.boolean().optional(),
    }),
    head: z.object({
      status: z.int().min(200).max(599),
      headers: McpHeaders,
      /** The whole answer; absent where it comes in frames. */
      whole: z.string().max(longestMcpWhole).optional(),
    }),
    frames: bytes(),
    tail: z.object({}),
  }),
  offer: rpc({
    doc: 'All that models are offered.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: McpOffer,
  }),
  tools: rpc({
    doc: 'Every tool, in the order of its list.',
    callers: ['agent'],
    safe: true,
    input: z.object({}),
    output: z.array(McpTool),
  }),
  call: rpc({
    doc: 'Calls one tool. `not-found` for a name that no tool has; whatever else goes wrong is told in the result.',
    callers: ['agent'],
    input: z.object({
      name: z.string().max(64),
      arguments: z.record(z.string().max(64), z.unknown()).default({}),
      /** The host to ask where the arguments name none; without it that is the first of the list. */
      hostKey: HostKey.optional(),
    }),
    output: McpToolResult,
  }),
})
