import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { hostOnRecord, actionAudited, type HostOnRecord } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { McpToolResult } from '#proto/mcp.ts'
import type { Bus } from '#shared/bus/bus.ts'
import { recording } from '#shared/evidence/recording.ts'
import { metrics as declared } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { problemsOf } from '#shared/text/sentence-of.ts'
import type { Clock } from '#shared/time/clock.ts'
import { failure, parseAndRun, type Tool } from '#shared/tools/tool.ts'
import type { ContextFor } from './context.ts'

/** Longest sentence about a failure. */
const longestFailure = 2_000
/** Statements that stand behind one call. */
const mostEvidence = 64

/** Calls one tool for one caller; what goes wrong is told in the result, so that a model can do better. */
export type CallTool = (tool: Tool, given: unknown, call: Call, agent?: ForAgent) => Promise<McpToolResult>

/** What the agent has besides: a host of its own choice, and the statements behind what a tool tells. */
interface ForAgent {
  hostKey: string | undefined
}

interface CallToolOptions {
  clock: Clock
  audit(called: Called): void
  contextFor: ContextFor
  telemetry: Telemetry
}

export const openCallTool = ({
  contextFor,
  audit,
  clock,
  telemetry: { log, metrics, tracer },
}: CallToolOptions): CallTool => {
  const calls = declared.toolCalls(metrics)

  return async (tool, given, call, agent) => {
    const { name } = tool
    const span = tracer.start(`tool ${name}`, 'internal', call.trace, { 'mcp.tool': name })
    const startedAtMs = performance.now()
    let host: Called['host'] = null
    const end = (outcome: string, result: Called['result']) => {
      const tookMs = Math.round(performance.now() - startedAtMs)
      calls.inc({ tool: name, outcome })
      audit({ tool: name, call, host, result, tookMs })
    }
    try {
      const context = contextFor({ ...call, trace: span.trace })
      const record = agent && recording(context.query, clock)
      const onHost = (asked: Host) => (host = hostOnRecord(asked))
      const hostKey = agent?.hostKey
      const { text, structured } = await parseAndRun(tool, given, { ...context, ...record, hostKey, onHost })
      end('told', 'done')
      span.end()
      const evidence = record?.evidence.slice(0, mostEvidence)
      return { isError: false, text, structured, ...(evidence && { evidence }) }
    } catch (error) {
      const sentence = sentenceOf(error)
      if (sentence === undefined) log.error({ tool: name, err: error }, 'tool failed')
      end(outcomeOf(error), sentence === undefined ? 'failed' : 'refused')
      span.end(sentence === undefined ? error : undefined)
      const text = sentence ?? 'internal error; see the log of the service'
      return failure(beginningOf(text, longestFailure))
    }
  }
}

const outcomeOf = (error: unknown): string => {
  if (error instanceof ServiceError) return error.code
  return error instanceof z.ZodError ? 'invalid' : 'internal'
}

/** What a caller may know of a failure; undefined for a defect. */
export const sentenceOf = (error: unknown): string | undefined => {
  if (error instanceof z.ZodError) return `invalid arguments: ${problemsOf(error)}`
  return error instanceof ServiceError && error.code !== 'internal' ? `${error.code}: ${error.message}` : undefined
}

/** A call of a tool that has ended; with which arguments is its caller's alone. */
interface Called {
  tool: string
  call: Call
  /** Name of the host that was asked; null when it came to none. */
  host: HostOnRecord | null
  /** `failed` is a defect of ours, everything else that told nothing is `refused`. */
  result: 'done' | 'refused' | 'failed'
  tookMs: number
}

/** Tells the keeper of the audit who called which tool, on which host. */
export const openAudit =
  (bus: Bus, clock: Clock) =>
  ({ tool, call, host, result, tookMs }: Called): void => {
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
