import { z } from 'zod'
import { alertingMethods } from './alerting.ts'
import { channelMethods } from './channels.ts'
import { chatApplicationMethods } from './chat-application.ts'
import { rpc, service } from './contract.ts'
import { deliveryMethods } from './delivery.ts'
import { createFindingMethods } from './finding.ts'
import { HostKey } from './host.ts'
import { inboundConditionMethods } from './inbound-conditions.ts'
import { notifyMethods } from './announcements.ts'
import { pagingServiceMethods } from './pagerduty-services.ts'
import { pruneMethods } from './retention.ts'
import { subscriptionMethods } from './subscriptions.ts'

const Whole = z.int().min(0)

/** The result of a sweep. */
export const SweepSummary = z.object({
  /** Whether sweeps are enabled. If false, no rules were evaluated. */
  enabled: z.boolean().default(true),
  hosts: Whole,
  /** Number of evaluated rules on all hosts, and how many of them were not ok. */
  checks: Whole.default(0),
  findings: Whole.default(0),
  /** Number of firing conditions. */
  firing: Whole,
  /** Number of notifications dispatched by this sweep. `messages` is the former name of this field. */
  dispatched: Whole.default(0),
  messages: Whole,
  /** Number of due notifications that were not dispatched, by reason. */
  suppressed: z.record(z.string().max(32), Whole).default({}),
  recoveries: Whole.default(0),
  /** Number of rules that could not be evaluated. */
  unknown: Whole.default(0),
  tookMs: Whole.default(0),
})
export type SweepSummary = z.infer<typeof SweepSummary>

/** Evaluates the rules, stores the state of every condition and notifies the recipients. */
export const alerts = service('alert-dispatcher', {
  firing: rpc({
    doc: 'Returns the number of firing conditions of each host with any.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: z.array(z.object({ hostKey: HostKey, conditions: z.number().int().min(1) })),
  }),
  sweep: rpc({
    doc: 'Evaluates every rule on every host and notifies the recipients; continues without its caller. `conflict` while another sweep runs.',
    callers: ['gateway'],
    input: z.object({}),
    output: SweepSummary,
  }),
  ...alertingMethods,
  ...deliveryMethods,
  ...channelMethods,
  ...notifyMethods,
  ...inboundConditionMethods,
  ...subscriptionMethods,
  ...chatApplicationMethods,
  ...pagingServiceMethods,
  ...createFindingMethods('HEALTH'),
  ...pruneMethods,
})
