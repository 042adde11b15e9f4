import { z } from 'zod'
import { TestedTarget } from './channels.ts'
import { rpc } from './contract.ts'
import { AlertTarget, Delivered } from './delivery.ts'
import { Severity } from './rules.ts'
import { Encrypted } from './transit.ts'

const glob = z.string().min(1).max(128).default('*')

/** What of a subscription is no secret. `*` is any text, `?` any character. */
export const subscriptionFields = {
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
  enabled: z.boolean().default(true),
  minSeverity: Severity.default('warning'),
  /** Ids of rules, and names of hosts or sources of inbound events, of which it hears. */
  matchRule: glob,
  matchHost: glob,
}
const Fields = z.object(subscriptionFields)

/** What names a subscription. */
export const SubscriptionId = z.string().regex(/^whs_[0-9a-f]{24}$/, 'must be the id of a subscription')

/** `whsec_` and 24 to 64 bytes as base64. */
const SigningSecret = z.string().regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/)

/** What is secret of a subscription: where it is, and what signs what it is sent. */
export const SubscriptionSecrets = z.object({
  url: z.string().trim().min(1).max(2_048).optional(),
  signingSecret: SigningSecret.optional(),
  /** Takes the place of the signing secret where `url` differs from the one before in scheme, host or port. */
  movedSigningSecret: SigningSecret.optional(),
})
export type SubscriptionSecrets = z.infer<typeof SubscriptionSecrets>

/** A webhook that a person brought, as its owner sees it: of its address the end at most. */
export const Subscription = z.object({
  id: z.string(),
  ...subscriptionFields,
  url: z.string(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
  ...AlertTarget.pick({ failures: true, broken: true, last: true }).shape,
})
export type Subscription = z.infer<typeof Subscription>

/** Nobody can tell whose it is, and it stays the same. */
const Owner = z.string().min(1).max(64)
const owned = { owner: Owner, id: SubscriptionId }
const common = { callers: ['gateway'], feature: 'HEALTH' } as const

/** Methods for webhooks that people bring themselves; all but their owner find that there is no such. */
export const subscriptionMethods = {
  subscriptionsOffered: rpc({
    ...common,
    doc: 'Whether webhooks can be subscribed here, as far as those who keep them know.',
    safe: true,
    input: z.object({}),
    output: z.object({ isOffered: z.boolean() }),
  }),
  subscriptions: rpc({
    ...common,
    doc: 'The webhooks that one person has subscribed; `not-implemented` where the installation keeps none.',
    safe: true,
    input: z.object({ owner: Owner }),
    output: z.array(Subscription),
  }),
  addSubscription: rpc({
    ...common,
    doc: 'Subscribes a webhook; `conflict` where its owner has as many as one may have.',
    input: z.object({ ...owned, fields: Fields, encrypted: Encrypted }),
    output: Subscription,
  }),
  changeSubscription: rpc({
    ...common,
    doc: 'Changes what is given of a subscription; for a day after the signing secret has changed the one before signs too, unless the address is on another server.',
    input: z.object({ ...owned, fields: Fields.optional(), encrypted: Encrypted.optional() }),
    /** `hasMoved`: its `movedSigningSecret` is in force. */
    output: Subscription.extend({ hasMoved: z.boolean().default(false) }),
  }),
  removeSubscription: rpc({
    ...common,
    doc: 'Ends a subscription; what waits for it is dropped.',
    input: z.object(owned),
    output: Subscription,
  }),
  testSubscription: rpc({
    ...common,
    doc: 'Sends a signed test message at once, switched on or not, and waits for how it ends.',
    input: z.object(owned),
    output: TestedTarget,
  }),
  subscriptionDeliveries: rpc({
    ...common,
    doc: 'How deliveries to a subscription ended, the newest first.',
    safe: true,
    input: z.object({ ...owned, limit: z.int().min(1).max(500) }),
    output: z.array(Delivered),
  }),
}
