import type { z } from 'zod'
import type { ApprovalPart, EgressPart } from '#proto/agent-parts.ts'
import { HostActionRequest } from '#proto/agent.ts'
import type { Host } from '#proto/host.ts'
import { createToolFailure, findHost, createToolResult, type ToolResult } from '#shared/tools/tool.ts'
import { type ApprovalOutcome, approvalTimeouts } from '../approvals/approval-requests.ts'
import { splitArguments } from '../egress/argument-pieces.ts'
import { egressDecisionTimeoutMs, isPerson } from '../egress/egress-requests.ts'
import type { EgressTool } from '../tool-sources.ts'
import type { AnswerContext } from './answer-context.ts'
import type { ParsedToolCall } from './toolbox.ts'

/** Requests approval for the call of a control tool and waits for its outcome. */
export const requestApproval = async (
  talk: AnswerContext,
  { name, toolCallId, input }: { name: string; toolCallId: string; input: Record<string, unknown> },
): Promise<ToolResult> => {
  const { hostId, ...parameters } = input
  const host = await findHost(talk.context, typeof hostId === 'number' ? hostId : undefined)
  const request = HostActionRequest.parse({ tool: name, hostKey: host.key, input: parameters })
  talk.call.signal.throwIfAborted()
  const { id, outcome } = talk.approvalRequests.create(talk.run, request)
  const part = createApprovalPart(
    { approvalId: id, toolCallId, request: request },
    host,
    talk.context.clock.now() + approvalTimeouts.openMs,
  )
  talk.emit({ type: 'data-approval', id, data: { ...part, state: 'waiting' } })
  const resolved = await talk.time.pausedFor(outcome)
  talk.call.signal.throwIfAborted()
  talk.emit({ type: 'data-approval', id, data: { ...part, state: resolved.state } })
  return toToolResult(resolved)
}

type Part = z.output<typeof ApprovalPart>

const createApprovalPart = (
  known: Pick<Part, 'approvalId' | 'toolCallId' | 'request'>,
  { name }: Host,
  expiresAtMs: number,
): Omit<Part, 'state'> => ({ ...known, host: name, expiresAtMs })

const toToolResult = (outcome: ApprovalOutcome): ToolResult => {
  switch (outcome.state) {
    case 'done':
      return createToolResult('approved and done', outcome.result)
    case 'failed':
      return createToolFailure(`approved, but failed: ${outcome.message}`)
    case 'denied':
      return createToolFailure('not run: the person denied this; do not request it again')
    case 'expired':
      return createToolFailure('not run: the approval request expired after five minutes')
    case 'unknown':
      return createToolFailure('approved, but the result is unknown; check whether it took effect')
  }
}

/**
 * Returns undefined if a call may send its arguments to an external server. Otherwise returns the error message for the
 * model. No approval is needed if the conversation contains no host text, or if the operator allows the call and its
 * arguments contain none. Otherwise waits for the decision of the user.
 */
export const requestEgressApproval = async (
  talk: AnswerContext,
  { id: toolCallId, tool: { name, title, inputSchema }, input }: ParsedToolCall,
  { server, isAllowed, allowedHosts }: EgressTool,
): Promise<string | undefined> => {
  if (!talk.hostText.isIn(server.id)) return undefined
  const pieces = splitArguments(input, inputSchema, (texts) => talk.hostText.find(texts, server.id, allowedHosts()))
  if (!pieces.hasHostText && isAllowed(input)) return undefined
  if (!isPerson(talk.call.identity)) return formatEgressRejection(server.name, pieces.hasHostText)
  talk.call.signal.throwIfAborted()
  const expiresAtMs = talk.context.clock.now() + egressDecisionTimeoutMs
  const { id: approvalId, decision } = talk.egress.open(talk.run)
  const emit = (state: z.input<typeof EgressPart>['state']) => {
    const part: z.input<typeof EgressPart> = {
      approvalId,
      toolCallId,
      tool: name,
      title,
      server: server.name,
      arguments: pieces.arguments,
      expiresAtMs,
      state,
    }
    talk.emit({ type: 'data-egress', id: approvalId, data: part })
  }
  emit('waiting')
  const state = await talk.time.pausedFor(decision)
  talk.call.signal.throwIfAborted()
  emit(state)
  if (state === 'denied') return 'not sent: the person denied this call; do not repeat it, and answer without it'
  if (state === 'expired') return 'not sent: no person approved this call within five minutes; answer without it'
  return undefined
}

const formatEgressRejection = (server: string, hasHostText: boolean): string => {
  const reason = hasHostText ? 'the arguments contain text that was read from a host' : 'tools have read from hosts'
  const remedy = hasHostText ? '' : ', or the operator can allow it in SVC_AGENT_EGRESS_ALLOWED'
  return `not sent: ${reason}, and an API key cannot approve a call of ${server}; a person can approve it in the web UI${remedy}. Answer without it`
}
