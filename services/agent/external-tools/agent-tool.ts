import { hash } from 'node:crypto'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { ToolResult } from '#shared/tools/tool.ts'
import type { AgentTool } from '../tool-sources.ts'
import type { OfferedTool } from './offered-tools.ts'
import { callTool, type ToolServer } from './tool-server.ts'

/** Maximum length of a tool name that all model gateways accept, in characters. */
const maxNameLength = 64
const hashLength = 8

/**
 * Returns the name of an external tool, `mcp_<server>__<tool>`, which never equals the name of a built-in tool.
 * Replaces characters that model gateways reject. A replaced or truncated name gets a hash suffix to stay unique.
 */
export const createExternalToolName = (server: string, tool: string): string => {
  const name = `mcp_${server}__${tool}`
  const plain = name.replaceAll(/[^\w-]/g, '_')
  // If the server id contains `__` or ends in `_`, the separator `__` is ambiguous.
  const isClear = !/__|_$/.test(server)
  if (plain === name && plain.length <= maxNameLength && isClear) return plain
  const digest = hash('sha256', name).slice(0, hashLength)
  return `${plain.slice(0, maxNameLength - hashLength - 1)}_${digest}`
}

/** Timeout of one call in milliseconds. It is long, because crawlers are slow. */
const maxCallMs = 30_000
const maxArgumentBytes = 32_768

/** The rules for calls of an external server. */
export interface ServerPolicy {
  /** Returns why a call is forbidden; undefined if it is allowed. */
  refusal(tool: string, input: unknown): string | undefined
  /** Returns whether a call of this tool needs no approval. */
  isAllowed(name: string, input: unknown): boolean
  /** Returns the hosts that calls without approval may reach. */
  allowedHosts(): readonly string[]
}

/**
 * Wraps a tool of an external server as a tool of the agent. The model finds it with `search_tools`, and its results
 * are untrusted.
 */
export const createAgentTool = (
  server: ToolServer,
  { tool, title, description }: OfferedTool,
  policy: ServerPolicy,
): AgentTool => {
  const name = createExternalToolName(server.id, tool.name)
  const requireCallable = (input: unknown): void => {
    const text = JSON.stringify(Arguments.parse(input))
    if (Buffer.byteLength(text) > maxArgumentBytes)
      throw new ServiceError(
        'too-large',
        `arguments of ${tool.name} too large: the maximum is ${maxArgumentBytes} bytes`,
      )
    const refused = policy.refusal(tool.name, input)
    if (refused !== undefined) throw new ServiceError('forbidden', refused)
  }
  return {
    name,
    title: `${title} (${server.name})`,
    description,
    // The server validates arguments against its own schema.
    input: z.looseObject({}),
    inputSchema: tool.inputSchema,
    feature: null,
    kind: 'egress',
    core: false,
    egress: {
      server: { id: server.id, name: server.name },
      isAllowed: (input) => policy.isAllowed(name, input),
      allowedHosts: policy.allowedHosts,
      requireCallable,
    },
    run: async (input, { call, clock }) => {
      requireCallable(input)
      const parsedInput = Arguments.parse(input)
      const timeoutMs = Math.min(maxCallMs, Math.max(call.deadline - clock.elapsedMs(), 1))
      return limitToolResult(server.name, await callTool(server, tool, parsedInput, { timeoutMs, signal: call.signal }))
    },
  }
}

const Arguments = z.record(z.string(), z.unknown())

/** Maximum bytes of the text of a result, and of its structured content. The agent loop truncates results further. */
const maxResultBytes = 16_384
/** Maximum length of the error message of a failed call, in characters. */
const maxFailureLength = 500

/**
 * Converts the result of an external tool and limits its size. Joins the texts, with placeholders for images and audio.
 * Keeps the structured content only if it fits.
 */
export const limitToolResult = (
  server: string,
  { content, structuredContent, isError }: CallToolResult,
): ToolResult => {
  const whole = content.map(formatContentBlock).join('\n')
  const text = truncateToBytes(whole, maxResultBytes)
  const fits = structuredContent !== undefined && Buffer.byteLength(JSON.stringify(structuredContent)) <= maxResultBytes
  const failed = isError === true
  return {
    isError: failed,
    text: failed ? `${server} reported an error: ${shortenText(text, maxFailureLength)}` : `${server} responded`,
    structured: {
      server,
      text,
      ...(fits ? { data: structuredContent } : {}),
      ...(text.length < whole.length || (structuredContent !== undefined && !fits) ? { cut: true } : {}),
    },
  }
}

const formatContentBlock = (block: CallToolResult['content'][number]): string => {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource':
      return 'text' in block.resource ? block.resource.text : '(binary file omitted)'
    case 'resource_link':
      return `(${block.uri})`
    case 'image':
      return '(image omitted)'
    case 'audio':
      return '(audio omitted)'
  }
}

/** Truncates a text to a number of bytes, at a character boundary. */
const truncateToBytes = (text: string, bytes: number): string => {
  const buffer = Buffer.from(text)
  if (buffer.length <= bytes) return text
  return new TextDecoder('utf-8', { fatal: false }).decode(buffer.subarray(0, bytes), { stream: true })
}
