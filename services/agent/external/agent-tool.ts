import { hash } from 'node:crypto'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { ToolResult } from '#shared/tools/tool.ts'
import type { AgentTool } from '../toolmaker.ts'
import type { OfferedTool } from './offered-tools.ts'
import { callTool, type ToolServer } from './tool-server.ts'

/** Gateways take no longer name of a tool. */
const longest = 64
const hashLength = 8

/**
 * Name of a tool of somebody else's server: `mcp_<server>__<tool>`, so that it can stand for no tool of ours. What gateways do not
 * take in a name is replaced; then, and where it is too long, it ends in a part of a hash, so that two never become one.
 */
export const externalName = (server: string, tool: string): string => {
  const wished = `mcp_${server}__${tool}`
  const plain = wished.replaceAll(/[^\w-]/g, '_')
  // Where the id of the server ends is to be seen.
  const isClear = !/__|_$/.test(server)
  if (plain === wished && plain.length <= longest && isClear) return plain
  const digest = hash('sha256', wished).slice(0, hashLength)
  return `${plain.slice(0, longest - hashLength - 1)}_${digest}`
}

/** Crawlers take their time. */
const longestCallMs = 30_000
const mostArgumentBytes = 32_768

/** What the operator's settings say of the calls of a server. */
export interface ServerPolicy {
  /** Why a call may not be made at all; undefined when it may. */
  refusal(tool: string, input: unknown): string | undefined
  /** Whether a call of the tool with this name may go without an approval. */
  isAllowed(name: string, input: unknown): boolean
  /** Hosts that such calls may lead to. */
  allowedHosts(): readonly string[]
}

/** A tool of an external server as the loop uses it: the model finds it by `search_tools`, and its results are untrusted. */
export const agentTool = (
  server: ToolServer,
  { tool, title, description }: OfferedTool,
  policy: ServerPolicy,
): AgentTool => {
  const name = externalName(server.id, tool.name)
  const requireCallable = (input: unknown): void => {
    const text = JSON.stringify(Arguments.parse(input))
    if (Buffer.byteLength(text) > mostArgumentBytes)
      throw new ServiceError('too-large', `the arguments of ${tool.name} are longer than ${mostArgumentBytes} bytes`)
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
      const given = Arguments.parse(input)
      const timeoutMs = Math.min(longestCallMs, Math.max(call.deadline - clock.elapsedMs(), 1))
      return readResult(server.name, await callTool(server, tool, given, { timeoutMs, signal: call.signal }))
    },
  }
}

const Arguments = z.record(z.string(), z.unknown())

/** Of all text of one result, and again of its structure; the loop bounds further what the model reads. */
const mostBytes = 16_384
/** Of the words of a failure, which take the place of a result. */
const mostOfFailure = 500

/** What a tool of somebody else gave, bounded: texts joined, a structure that fits, and of pictures and sounds that there are some. */
export const readResult = (server: string, { content, structuredContent, isError }: CallToolResult): ToolResult => {
  const whole = content.map(textOf).join('\n')
  const text = cutTo(whole, mostBytes)
  const fits = structuredContent !== undefined && Buffer.byteLength(JSON.stringify(structuredContent)) <= mostBytes
  const failed = isError === true
  return {
    isError: failed,
    text: failed ? `${server} says that it failed: ${beginningOf(text, mostOfFailure)}` : `${server} answered`,
    structured: {
      server,
      text,
      ...(fits ? { data: structuredContent } : {}),
      ...(text.length < whole.length || (structuredContent !== undefined && !fits) ? { cut: true } : {}),
    },
  }
}

const textOf = (block: CallToolResult['content'][number]): string => {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource':
      return 'text' in block.resource ? block.resource.text : '(a file that is no text is left out)'
    case 'resource_link':
      return `(${block.uri})`
    case 'image':
      return '(a picture is left out)'
    case 'audio':
      return '(a sound is left out)'
  }
}

/** The beginning of a text, never half a character of it. */
const cutTo = (text: string, bytes: number): string => {
  const buffer = Buffer.from(text)
  if (buffer.length <= bytes) return text
  return new TextDecoder('utf-8', { fatal: false }).decode(buffer.subarray(0, bytes), { stream: true })
}
