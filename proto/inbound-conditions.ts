import { z } from 'zod'
import { Silence } from './alert-history.ts'
import { AlertCondition } from './alerting.ts'
import { rpc } from './contract.ts'

/** Maximum conditions in one response. */
export const maxInboundConditions = 1_000

/** A condition that an inbound event opened, and the source that reported it. */
export const InboundCondition = AlertCondition.extend({ source: z.string() })
export type InboundCondition = z.infer<typeof InboundCondition>

const common = { callers: ['gateway'], feature: 'HEALTH' } as const
const episode = Silence.shape.episode.min(1)

/** Methods for conditions of inbound events. They are identified by their episode, because they have no host. */
export const inboundConditionMethods = {
  inboundConditions: rpc({
    ...common,
    doc: 'Lists open conditions of inbound events, and their total number.',
    callers: ['gateway', 'report', 'mcp'],
    safe: true,
    /** If `limit` is 0, only the number of open conditions is returned. */
    input: z.object({ limit: z.int().min(0).max(maxInboundConditions) }),
    output: z.object({ conditions: z.array(InboundCondition), open: z.int().min(0) }),
  }),
  silenceInbound: rpc({
    ...common,
    doc: 'Acknowledges or dismisses a condition of an inbound event; `not-found` if it has ended.',
    input: z.object({
      episode,
      kind: Silence.shape.kind,
      /** Duration of the silence; null if it lasts until the condition ends. */
      minutes: z.int().min(1).max(43_200).nullable(),
      note: Silence.shape.note,
    }),
    output: Silence,
  }),
  unsilenceInbound: rpc({
    ...common,
    doc: 'Removes an acknowledgement or a dismissal of a condition of an inbound event.',
    input: z.object({ episode, kind: Silence.shape.kind }),
    output: Silence,
  }),
}
