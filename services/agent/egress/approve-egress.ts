import type { z } from 'zod'
import type { EgressPart } from '#proto/agent-parts.ts'
import type { ReadCall } from '../loop/read-call.ts'
import type { Talk } from '../loop/talk.ts'
import type { EgressTool } from '../tool.ts'
import { piecesOf } from './argument-pieces.ts'
import { egressOpenMs, isPerson } from './egress-requests.ts'

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
