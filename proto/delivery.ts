import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'
import { Severity } from './rules.ts'

/** How a delivery ends: `dropped` when there was no need to send it any more, `dead` when it was given up. */
export const ends = ['sent', 'dropped', 'dead'] as const

/** How the delivery of one notice to one target ended. */
export const Delivered = z.object({
  /** One for each notice and target. */
  id: z.string(),
  atMs: z.number().int(),
  episode: z.string(),
  sequence: z.number().int(),
  kind: z.string(),
  ruleId: z.string(),
  hostKey: HostKey.nullable(),
  severity: Severity,
  channel: z.string(),
  target: z.string(),
  /** One of `ends`; a newer release may know further ones. */
  result: z.string(),
  reason: z.string().nullable(),
  /** Sends that it took, the last included. */
  attempts: z.number().int().min(0),
})
export type Delivered = z.infer<typeof Delivered>

/** A notice that was given up, as people may see it: its text, never the address it was for. */
export const DeadNotice = z.object({
  id: z.string(),
  atMs: z.number().int(),
  reason: z.string(),
  channel: z.string(),
  target: z.string(),
  kind: z.string(),
  title: z.string(),
  hostKey: HostKey.nullable(),
  severity: Severity,
  episode: z.string(),
})
export type DeadNotice = z.infer<typeof DeadNotice>

/** An address that alerts go to, and how it fares. */
export const AlertTarget = z.object({
  channel: z.string(),
  id: z.string(),
  /** What routes call it. */
  name: z.string(),
  minSeverity: Severity.nullable(),
  /** Sends in a row that failed. */
  failures: z.number().int().min(0),
  /** Why it takes nothing until its settings change; null while it is not so. */
  broken: z.object({ reason: z.string(), sinceMs: z.number().int() }).nullable(),
  last: z.object({ atMs: z.number().int(), result: z.string(), reason: z.string().nullable() }).nullable(),
})
export type AlertTarget = z.infer<typeof AlertTarget>

/** Names one message that was given up. */
export const LetterId = z.string().regex(/^[1-9]\d{0,14}$/, 'must be the id of a dead letter')
const limit = z.number().int().min(1).max(500)

/**
 * Whose subscriptions a caller may see besides the targets of the operator: those of everybody or of one owner. Without it, and from a
 * release that does not send it, of nobody.
 */
export const SubscriptionsOf = z.union([z.literal('everybody'), z.object({ owner: z.string().min(1).max(64) })])
export type SubscriptionsOf = z.infer<typeof SubscriptionsOf>
const subscriptionsOf = SubscriptionsOf.optional()

/** The channel whose targets are subscriptions of people. */
export const subscriptionChannel = 'subscriptions'

/** Methods about how people were told. */
export const deliveryMethods = {
  deliveries: rpc({
    doc: 'How deliveries ended, the newest first.',
    callers: ['gateway', 'report'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({
      channel: z.string().max(40).optional(),
      target: z.string().max(64).optional(),
      episode: z.string().max(160).optional(),
      result: z.enum(ends).optional(),
      beforeMs: z.number().int().optional(),
      limit,
      subscriptionsOf,
    }),
    output: z.array(Delivered),
  }),
  alertTargets: rpc({
    doc: 'Every address that alerts go to now, and how it fares.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({}),
    output: z.array(AlertTarget),
  }),
  deadLetters: rpc({
    doc: 'Notices that were given up, the newest first; `next` continues as `before`, and is null at the end.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({ before: LetterId.optional(), limit, subscriptionsOf }),
    output: z.object({ letters: z.array(DeadNotice), next: z.string().nullable() }),
  }),
  replayDeadLetter: rpc({
    doc: 'Sends a notice that was given up again, unless its target has been told of something later meanwhile.',
    callers: ['gateway'],
    feature: 'HEALTH',
    input: z.object({ id: LetterId, subscriptionsOf }),
    output: DeadNotice,
  }),
}
