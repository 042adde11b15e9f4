import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'
import { Severity } from './rules.ts'

/** Final results of a delivery: `dropped` if it became obsolete, `dead` if it failed. */
export const deliveryResults = ['sent', 'dropped', 'dead'] as const

/** The result of delivering one notification to one target. */
export const CompletedDelivery = z.object({
  /** Unique per notification and target. */
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
  /** The final result. A newer release may add values. */
  result: z.string(),
  reason: z.string().nullable(),
  /** Number of send attempts, including the last one. */
  attempts: z.number().int().min(0),
})
export type CompletedDelivery = z.infer<typeof CompletedDelivery>

/** A notification that could not be delivered. It never contains the address of the target. */
export const DeadLetterNotification = z.object({
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
export type DeadLetterNotification = z.infer<typeof DeadLetterNotification>

/** A notification target and its health. */
export const AlertTarget = z.object({
  channel: z.string(),
  id: z.string(),
  /** The name that routes use. */
  name: z.string(),
  minSeverity: Severity.nullable(),
  /** Number of consecutive failed sends. */
  failures: z.number().int().min(0),
  /** Why the target receives nothing until its settings change; null if it works. */
  broken: z.object({ reason: z.string(), sinceMs: z.number().int() }).nullable(),
  last: z.object({ atMs: z.number().int(), result: z.string(), reason: z.string().nullable() }).nullable(),
})
export type AlertTarget = z.infer<typeof AlertTarget>

/** Id of a dead letter: a notification that could not be delivered, or an event that could not be processed. */
export const DeadLetterId = z.string().regex(/^[1-9]\d{0,14}$/, 'must be the id of a dead letter')
const limit = z.number().int().min(1).max(500)

/**
 * The owner whose subscriptions a caller can see in addition to the targets of the operator, or `everybody`. If absent,
 * as from older releases, no subscriptions are visible.
 */
export const SubscriptionScope = z.union([z.literal('everybody'), z.object({ owner: z.string().min(1).max(64) })])
export type SubscriptionScope = z.infer<typeof SubscriptionScope>
const subscriptionsOf = SubscriptionScope.optional()

/** The channel whose targets are webhook subscriptions of users. */
export const subscriptionChannel = 'subscriptions'

/** Methods for notification deliveries. */
export const deliveryMethods = {
  deliveries: rpc({
    doc: 'Lists finished deliveries, newest first.',
    callers: ['gateway', 'report'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({
      channel: z.string().max(40).optional(),
      target: z.string().max(64).optional(),
      episode: z.string().max(160).optional(),
      result: z.enum(deliveryResults).optional(),
      beforeMs: z.number().int().optional(),
      limit,
      subscriptionsOf,
    }),
    output: z.array(CompletedDelivery),
  }),
  alertTargets: rpc({
    doc: 'Lists the current notification targets and their health.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({}),
    output: z.array(AlertTarget),
  }),
  deadLetters: rpc({
    doc: 'Lists failed notifications, newest first. `next` is the `before` of the next page; null on the last page.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({ before: DeadLetterId.optional(), limit, subscriptionsOf }),
    output: z.object({ letters: z.array(DeadLetterNotification), next: z.string().nullable() }),
  }),
  replayDeadLetter: rpc({
    doc: 'Resends a failed notification, unless its target has received a later one.',
    callers: ['gateway'],
    feature: 'HEALTH',
    input: z.object({ id: DeadLetterId, subscriptionsOf }),
    output: DeadLetterNotification,
  }),
}
