import { z } from 'zod'
import { Silence } from './alert-history.ts'
import { AlertCondition } from './alerting.ts'
import { rpc } from './contract.ts'

/** More than anybody reads in one answer. */
export const mostInbound = 1_000

/** A condition that an inbound event began, and the source that tells of it. */
export const InboundCondition = AlertCondition.extend({ source: z.string() })
export type InboundCondition = z.infer<typeof InboundCondition>

const common = { callers: ['gateway'], feature: 'HEALTH' } as const
const episode = Silence.shape.episode.min(1)

/** Methods about conditions that inbound events begin: they are named by their episode, as they have no host. */
export const inboundConditionMethods = {
  inboundConditions: rpc({
    ...common,
    doc: 'Conditions that inbound events began, and how many are open in all.',
    callers: ['gateway', 'report'],
    safe: true,
    /** 0 asks for the count only. */
    input: z.object({ limit: z.int().min(0).max(mostInbound) }),
    output: z.object({ conditions: z.array(InboundCondition), open: z.int().min(0) }),
  }),
  silenceInbound: rpc({
    ...common,
    doc: 'Acknowledges or dismisses what an inbound event began; `not-found` when that is over.',
    input: z.object({
      episode,
      kind: Silence.shape.kind,
      /** Null holds until its end. */
      minutes: z.int().min(1).max(43_200).nullable(),
      note: Silence.shape.note,
    }),
    output: Silence,
  }),
  unsilenceInbound: rpc({
    ...common,
    doc: 'Takes back an acknowledgement or a dismissal of what an inbound event began.',
    input: z.object({ episode, kind: Silence.shape.kind }),
    output: Silence,
  }),
}
