import { queryOptions } from '@tanstack/svelte-query'
import type { mcpVersions } from '#proto/mcp.ts'
import { call } from './call.ts'
import { requestJson } from './request.ts'

/** Query for the status and the URL of the MCP server, and whether it requires authentication. */
export const toolServerQuery = () =>
  queryOptions({
    queryKey: ['tool-server'],
    queryFn: async ({ signal }) => {
      const [{ data, metadata }, card] = await Promise.all([
        call('GET /api/v1/mcp/info', { signal }),
        call('GET /.well-known/mcp/server-card.json', { signal }),
      ])
      return { ...data, url: metadata.url, isOpen: !card.authentication.required }
    },
  })

/** The part of a tool's JSON Schema that the forms support. */
export interface ToolInputSchema {
  properties?: Readonly<Record<string, ToolInputProperty>>
  required?: readonly string[]
}

export interface ToolInputProperty {
  type?: string
  description?: string
  default?: unknown
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** A tool as listed by the server. */
export interface ListedTool {
  name: string
  title: string
  description: string
  inputSchema: ToolInputSchema
}

export interface ToolCallResult {
  isError?: boolean
  content: readonly { type: string; text?: string }[]
  structuredContent?: Readonly<Record<string, unknown>>
}

/** Lists the tools. Without a key, the session of the browser is used. */
export const listTools = async (key: string): Promise<readonly ListedTool[]> =>
  (await sendMessage<{ tools: readonly ListedTool[] }>({ method: 'tools/list', params: {}, key })).tools

export const callTool = (
  name: string,
  toolArguments: Readonly<Record<string, unknown>>,
  key: string,
): Promise<ToolCallResult> =>
  sendMessage<ToolCallResult>({
    method: 'tools/call',
    params: { name, arguments: toolArguments },
    key,
    headers: { 'mcp-name': name },
  })

/** The protocol revision that needs no handshake. */
const protocolRevision: (typeof mcpVersions)[0] = '2026-07-28'

interface Message {
  method: string
  params: object
  key: string
  headers?: Record<string, string>
}

/** Sends one MCP request and returns its result. Throws if the response contains an error. */
const sendMessage = async <Result>({ method, params, key, headers }: Message): Promise<Result> => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': protocolRevision,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'watchhouse-web', version: '1' },
  }
  // The MCP server ignores sessions, so messages without a key go to a route for the web UI.
  const path = key === '' ? '/api/v1/mcp/messages' : '/api/mcp'
  const message = await requestJson<{ result: Result; error?: { message: string } }>(path, {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    ...(key !== '' && { bearer: key }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolRevision,
      'mcp-method': method,
      ...headers,
    },
  })
  if (message.error) throw new Error(message.error.message)
  return message.result
}
