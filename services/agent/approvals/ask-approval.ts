import type { ApprovalPart } from '#proto/agent-parts.ts'
import { ControlWish } from '#proto/agent.ts'
import type { Host } from '#proto/host.ts'
import type { z } from 'zod'
import type { Talk } from '../loop/talk.ts'
import { hostAt, type ToolResult } from '#shared/tools/tool.ts'
import { type Outcome, wishLimits } from './wishes.ts'

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
      return { isError: false, text: 'approved and carried out', structured: outcome.result, evidence: [] }
    case 'failed':
      return refused(`approved, but not carried out: ${outcome.message}`)
    case 'denied':
      return refused('the person refused this; do not ask for it again')
    case 'expired':
      return refused('nobody approved this within five minutes, so it was not done')
    case 'unknown':
      return refused('approved, but it is not known whether it was carried out: look')
  }
}

const refused = (text: string): ToolResult => ({ isError: true, text, structured: null, evidence: [] })
