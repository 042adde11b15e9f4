import { z } from 'zod'
import { TestMessageResult } from './channels.ts'
import { rpc } from './contract.ts'
import { AlertTarget, CompletedDelivery } from './delivery.ts'
import { Severity } from './rules.ts'
import { EncryptedSecrets } from './encrypted-secrets.ts'

const glob = z.string().min(1).max(128).default('*')

/** The fields of a subscription that are not secret. `*` matches any text, `?` any character. */
export const subscriptionFields = {
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
  enabled: z.boolean().default(true),
  minSeverity: Severity.default('warning'),
  /** Filters by rule id, and by name of host or inbound source. */
  matchRule: glob,
  matchHost: glob,
}
const Fields = z.object(subscriptionFields)

/** Id of a subscription. */
export const SubscriptionId = z.string().regex(/^whs_[0-9a-f]{24}$/, 'must be the id of a subscription')

/** A signing secret: `whsec_` and 24 to 64 bytes as base64. */
const SigningSecret = z.string().regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/)

/** The secrets of a subscription: its URL and its signing secret. */
export const SubscriptionSecrets = z.object({
  url: z.string().trim().min(1).max(2_048).optional(),
  signingSecret: SigningSecret.optional(),
  /** Replaces the signing secret if `url` has another scheme, host or port than before. */
  movedSigningSecret: SigningSecret.optional(),
})
export type SubscriptionSecrets = z.infer<typeof SubscriptionSecrets>

/** A webhook subscription as its owner sees it, with only the end of its address. */
export const Subscription = z.object({
  id: z.string(),
  ...subscriptionFields,
  url: z.string(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
  ...AlertTarget.pick({ failures: true, broken: true, last: true }).shape,
})
export type Subscription = z.infer<typeof Subscription>

/** A stable pseudonym of the user who owns the subscription. */
const Owner = z.string().min(1).max(64)
const subscriptionKey = { owner: Owner, id: SubscriptionId }
const common = { callers: ['gateway'], feature: 'HEALTH' } as const

/** Methods for webhook subscriptions of users. For callers other than the owner they fail with `not-found`. */
export const subscriptionMethods = {
  subscriptionsOffered: rpc({
    ...common,
    doc: 'Returns whether webhooks can be subscribed.',
    safe: true,
    input: z.object({}),
    output: z.object({ isOffered: z.boolean() }),
  }),
  subscriptions: rpc({
    ...common,
    doc: 'Lists the webhook subscriptions of one user; `not-implemented` if subscriptions are disabled.',
    safe: true,
    input: z.object({ owner: Owner }),
    output: z.array(Subscription),
  }),
  addSubscription: rpc({
    ...common,
    doc: 'Subscribes a webhook; `conflict` if its owner has reached the limit.',
    input: z.object({ ...subscriptionKey, fields: Fields, encrypted: EncryptedSecrets }),
    output: Subscription,
  }),
  changeSubscription: rpc({
    ...common,
    doc: 'Changes the specified fields of a subscription. After a change, the previous signing secret also signs for a day, unless the address is on another server.',
    input: z.object({ ...subscriptionKey, fields: Fields.optional(), encrypted: EncryptedSecrets.optional() }),
    /** `hasMoved` is true if `movedSigningSecret` has replaced the signing secret. */
    output: Subscription.extend({ hasMoved: z.boolean().default(false) }),
  }),
  removeSubscription: rpc({
    ...common,
    doc: 'Deletes a subscription and drops its pending deliveries.',
    input: z.object(subscriptionKey),
    output: Subscription,
  }),
  testSubscription: rpc({
    ...common,
    doc: 'Sends a signed test message, enabled or not, and waits for the result.',
    input: z.object(subscriptionKey),
    output: TestMessageResult,
  }),
  subscriptionDeliveries: rpc({
    ...common,
    doc: 'Lists finished deliveries of a subscription, newest first.',
    safe: true,
    input: z.object({ ...subscriptionKey, limit: z.int().min(1).max(500) }),
    output: z.array(CompletedDelivery),
  }),
}
