import type { z } from 'zod'
import type { ApprovalPart, EgressPart } from '#proto/agent-parts.ts'
import { ControlWish } from '#proto/agent.ts'
import type { Host } from '#proto/host.ts'
import { failure, hostAt, result, type ToolResult } from '#shared/tools/tool.ts'
import { type Outcome, wishLimits } from '../approvals/wishes.ts'
import { piecesOf } from '../egress/argument-pieces.ts'
import { egressOpenMs, isPerson } from '../egress/egress-requests.ts'
import type { EgressTool } from '../toolmaker.ts'
import type { Talk } from './talk.ts'
import type { ReadCall } from './toolbox.ts'

/** Asks the person to approve what a control tool would do, and waits for what comes of it. */
export const askApproval = async (
  talk: Talk,
  { name, toolCallId, input }: { name: string; toolCallId: string; input: Record<string, unknown> },
): Promise<ToolResult> => {
  const { hostId, ...parameters } = input
  const host = await hostAt(talk.context, typeof hostId === 'number' ? hostId : undefined)
  const wish = ControlWish.parse({ tool: name, hostKey: host.key, input: parameters })
  talk.call.signal.throwIfAborted()
  const { id, outcome } = talk.wishes.make(talk.run, wish)
  const part = partOf({ approvalId: id, toolCallId, wish }, host, talk.context.clock.now() + wishLimits.openMs)
  talk.tell({ type: 'data-approval', id, data: { ...part, state: 'waiting' } })
  const settled = await talk.time.pausedFor(outcome)
  talk.call.signal.throwIfAborted()
  talk.tell({ type: 'data-approval', id, data: { ...part, state: settled.state } })
  return answerOf(settled)
}

type Part = z.output<typeof ApprovalPart>

const partOf = (
  known: Pick<Part, 'approvalId' | 'toolCallId' | 'wish'>,
  { name }: Host,
  expiresAtMs: number,
): Omit<Part, 'state'> => ({ ...known, host: name, expiresAtMs })

const answerOf = (outcome: Outcome): ToolResult => {
  switch (outcome.state) {
    case 'done':
      return result('approved and carried out', outcome.result)
    case 'failed':
      return failure(`approved, but not carried out: ${outcome.message}`)
    case 'denied':
      return failure('the person refused this; do not ask for it again')
    case 'expired':
      return failure('nobody approved this within five minutes, so it was not done')
    case 'unknown':
      return failure('approved, but it is not known whether it was carried out: look')
  }
}

/**
 * Whether a call may send its arguments to an external server; otherwise the reason for the model. It may while the conversation holds
 * nothing that a tool read, or where the operator allows it and its arguments contain nothing of that. Otherwise a person decides.
 */
export const approveEgress = async (
  talk: Talk,
  { id: toolCallId, tool: { name, title, inputSchema }, input }: ReadCall,
  { server, isAllowed, allowedHosts }: EgressTool,
): Promise<string | undefined> => {
  if (!talk.hostText.isIn(server.id)) return undefined
  const pieces = piecesOf(input, inputSchema, (texts) => talk.hostText.find(texts, server.id, allowedHosts()))
  if (!pieces.hasHostText && isAllowed(input)) return undefined
  if (!isPerson(talk.call.identity)) return refusalOf(server.name, pieces.hasHostText)
  talk.call.signal.throwIfAborted()
  const expiresAtMs = talk.context.clock.now() + egressOpenMs
  const { id: approvalId, decision } = talk.egress.open(talk.run)
  const tell = (state: z.input<typeof EgressPart>['state']) => {
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
    talk.tell({ type: 'data-egress', id: approvalId, data: part })
  }
  tell('waiting')
  const state = await talk.time.pausedFor(decision)
  talk.call.signal.throwIfAborted()
  tell(state)
  if (state === 'denied') return 'not sent: the person denied this call; do not repeat it, and answer without it'
  if (state === 'expired') return 'not sent: no person approved this call within five minutes; answer without it'
  return undefined
}

const refusalOf = (server: string, hasHostText: boolean): string => {
  const reason = hasHostText ? 'the arguments contain text that was read from a host' : 'tools have read from hosts'
  const remedy = hasHostText ? '' : ', or the operator can allow it in SVC_AGENT_EGRESS_ALLOWED'
  return `not sent: ${reason}, and an API key cannot approve a call of ${server}; a person can approve it in the web${remedy}. Answer without it`
}
