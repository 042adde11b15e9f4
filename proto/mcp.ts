import { z } from 'zod'
import { declareByteFrames, event, rpc, service, stream } from './contract.ts'
import { type ErrorCode, errorStatuses } from './errors.ts'
import { Evidence } from './evidence.ts'
import { HostKey } from './host.ts'

/**
 * Maximum size of a request to the tool server in bytes. A smaller body with many quotes is rejected too if its JSON
 * escapes exceed the bus limit.
 */
export const maxMcpBodyBytes = 512 * 1024

/**
 * Maximum size of a response that is sent in the head, in bytes of text. JSON escapes make it at most six times as
 * long, which still fits a frame.
 */
export const maxMcpBufferedBytes = 32 * 1024

/** Request headers that are passed to the tool server: only those of the protocol, never credentials. */
export const mcpRequestHeaders = [
  'accept',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
] as const
/** Response headers that are passed to the caller. */
export const mcpResponseHeaders = [
  'allow',
  'cache-control',
  'content-length',
  'content-type',
  'mcp-protocol-version',
  'mcp-session-id',
] as const

/** HTTP headers by lower-case name. */
export const McpHeaders = z.record(z.string().max(64), z.string().max(16_384))

/** Supported protocol revisions, newest first. The first needs no handshake. */
export const mcpVersions = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const

const InventoryItem = z.object({ name: z.string(), title: z.string(), description: z.string() })

/** Tools, resources and prompts of the tool server, without schemas. Placeholders in a `uri` are in braces. */
export const McpInventory = z.object({
  tools: z.array(InventoryItem),
  resources: z.array(z.object({ uri: z.string(), title: z.string() })),
  prompts: z.array(InventoryItem),
})
export type McpInventory = z.infer<typeof McpInventory>

/** A tool for models. `inputSchema` is a JSON Schema. */
export const McpTool = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  inputSchema: z.looseObject({}),
  /** Whether the model receives the tool from the start; it must look up other tools first. */
  core: z.boolean().default(false),
})
export type McpTool = z.infer<typeof McpTool>

/** The result of a tool call; with `isError`, `text` is the reason for the failure. */
export const McpToolResult = z.object({
  isError: z.boolean(),
  /** The code of the error, for the agent; `busy` means that the tool did not run. */
  code: z.enum(Object.keys(errorStatuses) as ErrorCode[]).optional(),
  /** Human-readable text; at most 2,000 characters for an error. */
  text: z.string(),
  /** The result according to the `outputSchema` of the tool; null if the call failed. */
  structured: z.looseObject({}).nullable(),
  /** The statements behind the result, in order; not sent to MCP clients. */
  evidence: z.array(Evidence).max(64).optional(),
})
export type McpToolResult = z.infer<typeof McpToolResult>

/** Published by the tool server that received the cancellation of a call, which another instance may be running. */
export const mcpCallCancelled = event({
  name: 'mcp.call-cancelled',
  doc: 'A client cancelled a tool call; the instance that runs it stops it.',
  publishers: ['mcp'],
  listeners: ['mcp'],
  /** Identifies the caller, its session and the request. */
  payload: z.object({ key: z.string().max(2_048) }),
})

const common = { feature: 'MCP' } as const

/** Tools for models, served over the Model Context Protocol through the gateway, and called by the agent. */
export const mcp = service('mcp', {
  http: stream({
    doc: 'Handles one HTTP request of any supported protocol revision and streams the response.',
    callers: ['gateway'],
    // All tools only read.
    safe: true,
    ...common,
    input: z.object({
      method: z.enum(['GET', 'POST', 'DELETE']),
      headers: McpHeaders,
      /** The unparsed request body, which only the tool server parses. */
      body: z.string().max(maxMcpBodyBytes),
      /** Whether a short response can be sent in the head, without frames. */
      wholeInHead: z.boolean().optional(),
    }),
    head: z.object({
      status: z.int().min(200).max(599),
      headers: McpHeaders,
      /** The complete response; absent if it is sent in frames. */
      whole: z.string().max(maxMcpBufferedBytes).optional(),
    }),
    frames: declareByteFrames(),
    tail: z.object({}),
  }),
  offer: rpc({
    doc: 'Lists tools, resources and prompts.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: McpInventory,
  }),
  tools: rpc({
    doc: 'Lists all tools in order.',
    callers: ['agent'],
    safe: true,
    input: z.object({}),
    output: z.array(McpTool),
  }),
  call: rpc({
    doc: 'Calls one tool. `not-found` for an unknown tool; all other errors are reported in the result.',
    callers: ['agent'],
    // All tools only read.
    safe: true,
    input: z.object({
      name: z.string().max(64),
      arguments: z.record(z.string().max(64), z.unknown()).default({}),
      /** The host to use if the arguments name none; the first host of the list if absent. */
      hostKey: HostKey.optional(),
    }),
    output: McpToolResult,
  }),
})
