import { z } from 'zod'
import { alertingMethods } from './alerting.ts'
import { channelMethods } from './channels.ts'
import { chatApplicationMethods } from './chat-application.ts'
import { rpc, service } from './contract.ts'
import { deliveryMethods } from './delivery.ts'
import { findingMethods } from './finding.ts'
import { HostKey } from './host.ts'
import { inboundConditionMethods } from './inbound-conditions.ts'
import { notifyMethods } from './notify.ts'
import { pagingServiceMethods } from './paging-services.ts'
import { pruneMethods } from './prune.ts'
import { subscriptionMethods } from './subscriptions.ts'

const Whole = z.int().min(0)

/** What a sweep did. */
export const Sweep = z.object({
  /** False when sweeps are switched off: then nothing was done. */
  enabled: z.boolean().default(true),
  hosts: Whole,
  /** Rules judged, over all hosts, and those of them that were not ok. */
  checks: Whole.default(0),
  findings: Whole.default(0),
  /** Conditions that fire now. */
  firing: Whole,
  /** Notices handed on by this sweep; `messages` is its earlier name. */
  dispatched: Whole.default(0),
  messages: Whole,
  /** Notices that were due and not handed on, by why. */
  suppressed: z.record(z.string().max(32), Whole).default({}),
  recoveries: Whole.default(0),
  /** Rules that could not be judged. */
  unknown: Whole.default(0),
  tookMs: Whole.default(0),
})
export type Sweep = z.infer<typeof Sweep>

/** Watches the rules, keeps the state of every condition and tells the people concerned. */
export const alerts = service('alert-dispatcher', {
  firing: rpc({
    doc: 'How many conditions are firing on each host that has any.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: z.array(z.object({ hostKey: HostKey, conditions: z.number().int().min(1) })),
  }),
  sweep: rpc({
    doc: 'Checks every rule on every host and tells the people concerned; goes on when its caller leaves. `conflict` while another runs.',
    callers: ['gateway'],
    input: z.object({}),
    output: Sweep,
  }),
  ...alertingMethods,
  ...deliveryMethods,
  ...channelMethods,
  ...notifyMethods,
  ...inboundConditionMethods,
  ...subscriptionMethods,
  ...chatApplicationMethods,
  ...pagingServiceMethods,
  ...findingMethods('HEALTH'),
  ...pruneMethods,
})
