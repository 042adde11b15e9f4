import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { actionAudited, formatAuditHostName, type AuditHostName } from '#proto/audit.ts'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { McpToolResult } from '#proto/mcp.ts'
import type { Bus } from '#shared/bus/bus.ts'
import { createRecordingClient } from '#shared/evidence/recording.ts'
import { metrics as declared } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { shortenText } from '#shared/text/strings.ts'
import { formatZodError } from '#shared/text/zod-errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import { createToolFailure, parseAndRunTool, type Tool, type ToolContext } from '#shared/tools/tool.ts'
import { maxHostPosition } from '#shared/tools/tool-parameters.ts'

/** Creates the context of one call. */
export type CreateToolContext = (call: CallContext) => ToolContext

/** The position of a host in the host list, as text, because URIs and prompts do not support numbers. */
export const HostIdText = z
  .string()
  .regex(/^(0|[1-9]\d{0,4})$/, `must be a whole number from 0 to ${maxHostPosition}`)
  .default('0')
  .describe('Position in the list of hosts')

/** Maximum length of an error message, in characters. */
const maxFailureLength = 2_000
/** Maximum number of statements in the evidence of a call. */
const maxEvidence = 64

/** Calls a tool. Failures are returned as results, so that the model can correct its call. */
export type CallTool = (
  tool: Tool,
  input: unknown,
  call: CallContext,
  options?: ToolCallOptions,
) => Promise<McpToolResult>

interface ToolCallOptions {
  /** Set for calls of the agent, which also receives the executed statements as evidence. */
  agent?: { hostKey: string | undefined }
  onRun?: ToolContext['onRun']
}

interface CallToolOptions {
  clock: Clock
  audit(called: CompletedCall): void
  contextFor: CreateToolContext
  telemetry: Telemetry
}

export const createCallTool = ({
  contextFor,
  audit,
  clock,
  telemetry: { log, metrics },
}: CallToolOptions): CallTool => {
  const calls = declared.toolCalls(metrics)

  return async (tool, input, call, { agent, onRun } = {}) => {
    const { name } = tool
    const startedAtMs = performance.now()
    let host: CompletedCall['host'] = null
    const end = (outcome: string, result: CompletedCall['result']) => {
      const tookMs = Math.round(performance.now() - startedAtMs)
      calls.inc({ tool: name, outcome })
      audit({ tool: name, call, host, result, tookMs })
    }
    try {
      const context = contextFor({ ...call, priority: 'tool' })
      const record = agent && createRecordingClient(context.query, clock)
      const onHost = (requested: Host) => (host = formatAuditHostName(requested))
      const hostKey = agent?.hostKey
      const result = await parseAndRunTool(tool, input, {
        ...context,
        ...record,
        hostKey,
        onHost,
        ...(onRun && { onRun }),
      })
      const { text, structured } = result
      end('done', 'done')
      const evidence = record && [...record.evidence, ...(result.evidence ?? [])].slice(0, maxEvidence)
      return { isError: false, text, structured, ...(evidence && { evidence }) }
    } catch (error) {
      const sentence = call.signal.aborted ? 'the call was cancelled' : formatToolError(error)
      if (sentence === undefined) log.error({ tool: name, err: error }, 'tool failed')
      end(outcomeOf(error), sentence === undefined ? 'failed' : 'refused')
      const text = sentence ?? 'internal error; see the log of the service'
      return createToolFailure(
        shortenText(text, maxFailureLength),
        error instanceof ServiceError ? error.code : undefined,
      )
    }
  }
}

const outcomeOf = (error: unknown): string => {
  if (error instanceof ServiceError) return error.code
  return error instanceof z.ZodError ? 'invalid' : 'internal'
}

/** Returns the message for the caller; undefined for internal errors. */
export const formatToolError = (error: unknown): string | undefined => {
  if (error instanceof z.ZodError) return `invalid arguments: ${formatZodError(error)}`
  if (!(error instanceof ServiceError) || error.code === 'internal') return undefined
  const remedy = remedies.find(([pattern]) => error.code === 'not-found' && pattern.test(error.message))?.[1]
  return `${error.code}: ${error.message}${remedy === undefined ? '' : `; ${remedy}`}`
}

/** The tools that return the valid names, by the beginning of the error for an unknown one. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^unknown database/, 'list_databases returns all'],
  [/^unknown table/, 'list_tables returns all'],
]

/** A completed tool call, without its arguments, which are private to the caller. */
interface CompletedCall {
  tool: string
  call: CallContext
  /** The queried host; null if the call reached none. */
  host: AuditHostName | null
  /** `failed` is an internal error; all other errors are `refused`. */
  result: 'done' | 'refused' | 'failed'
  tookMs: number
}

/** Returns a function that sends tool calls to the audit log. */
export const createToolCallAudit =
  (bus: Bus, clock: Clock) =>
  ({ tool, call, host, result, tookMs }: CompletedCall): void => {
    const { kind, subject } = call.identity
    bus.emit(actionAudited, {
      id: randomUUID(),
      atMs: Math.round(clock.now() - tookMs),
      actor: { kind, subject },
      action: 'call-tool',
      host,
      target: { tool },
      result,
      detail: null,
      tookMs,
      requestId: null,
    })
  }
