import { queryOptions } from '@tanstack/svelte-query'
import type { mcpVersions } from '#proto/mcp.ts'
import { call } from './call.ts'
import { requestJson } from './request.ts'

/** What the tool server says of itself, and whether it wants to know who asks. */
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

/** JSON Schema of what a tool takes, in so far as the forms of this page read it. */
export interface InputSchema {
  properties?: Readonly<Record<string, InputProperty>>
  required?: readonly string[]
}

/** One parameter of a tool. */
export interface InputProperty {
  type?: string
  description?: string
  default?: unknown
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** A tool as it tells of itself. */
export interface Tool {
  name: string
  title: string
  description: string
  inputSchema: InputSchema
}

/** What came of a call. */
export interface Called {
  isError?: boolean
  content: readonly { type: string; text?: string }[]
  structuredContent?: Readonly<Record<string, unknown>>
}

/** The tools there are; who asks is whoever the key stands for, as the server knows nobody by a session of these pages. */
export const listTools = async (key: string): Promise<readonly Tool[]> =>
  (await speak<{ tools: readonly Tool[] }>({ method: 'tools/list', params: {}, key })).tools

export const callTool = (name: string, given: Readonly<Record<string, unknown>>, key: string): Promise<Called> =>
  speak<Called>({ method: 'tools/call', params: { name, arguments: given }, key, headers: { 'mcp-name': name } })

/** The revision that needs no handshake. */
const revision: (typeof mcpVersions)[0] = '2026-07-28'

interface Message {
  method: string
  params: object
  key: string
  headers?: Record<string, string>
}

/** One message of the protocol and its answer, as any other client would send it. */
const speak = async <Result>({ method, params, key, headers }: Message): Promise<Result> => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'watchhouse-web', version: '1' },
  }
  const told = await requestJson<{ result: Result; error?: { message: string } }>('/api/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    ...(key !== '' && { bearer: key }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...headers,
    },
  })
  if (told.error) throw new Error(told.error.message)
  return told.result
}
