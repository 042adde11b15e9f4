import { Counter } from 'prom-client'
import { z } from 'zod'
import { type Call, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { McpToolResult } from '#proto/mcp.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { AskingFor } from './asking.ts'
import type { Tool } from './tool.ts'

/** Longest sentence about a failure. */
const longestFailure = 2_000

/** As the audit tells it: `failed` is a defect of ours, everything else that told nothing is `refused`. */
export type Outcome = 'done' | 'refused' | 'failed'

/** Calls one tool for one caller; what goes wrong is told in the result, so that a model can do better. */
export type CallTool = (tool: Tool, given: unknown, call: Call) => Promise<McpToolResult>

interface CallToolOptions {
  /** Tells who called what, and what came of it; never with which arguments. */
  audit(tool: string, call: Call, outcome: Outcome): void
  askingFor: AskingFor
  telemetry: Telemetry
}

export const openCallTool = ({ askingFor, audit, telemetry: { log, metrics, tracer } }: CallToolOptions): CallTool => {
  const calls = new Counter({
    name: 'watchhouse_mcp_tool_calls_total',
    help: 'Calls of tools by their outcome.',
    labelNames: ['tool', 'outcome'],
    registers: [metrics],
  })

  return async (tool, given, call) => {
    const span = tracer.start(`tool ${tool.name}`, 'internal', call.trace, { 'mcp.tool': tool.name })
    try {
      requireFeature(call.identity, tool.feature, `the tool ${tool.name}`)
      const { text, structured } = await tool.run(given, askingFor({ ...call, trace: span.trace }))
      calls.inc({ tool: tool.name, outcome: 'told' })
      audit(tool.name, call, 'done')
      span.end()
      return { isError: false, text, structured }
    } catch (error) {
      const sentence = sentenceOf(error)
      if (sentence === undefined) log.error({ tool: tool.name, err: error }, 'tool failed')
      calls.inc({ tool: tool.name, outcome: error instanceof ServiceError ? error.code : 'invalid' })
      span.end(sentence === undefined ? error : undefined)
      audit(tool.name, call, sentence === undefined ? 'failed' : 'refused')
      const text = sentence ?? 'something failed on our side; the log of the service tells more'
      return { isError: true, text: text.slice(0, longestFailure), structured: null }
    }
  }
}

/** What a caller may know of a failure; undefined for a defect. */
export const sentenceOf = (error: unknown): string | undefined => {
  if (error instanceof z.ZodError) {
    return `invalid arguments: ${error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; ')}`
  }
  return error instanceof ServiceError && error.code !== 'internal' ? `${error.code}: ${error.message}` : undefined
}
