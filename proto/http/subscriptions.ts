import { z } from 'zod'
import { TestedTarget } from '../channels.ts'
import { Delivered } from '../delivery.ts'
import { Subscription, SubscriptionId, SubscriptionSecrets, subscriptionFields } from '../subscriptions.ts'
import { answer } from './answer.ts'

const { createdAtMs: _created, updatedAtMs: _updated, ...shown } = Subscription.shape
/** A subscription as its owner sees it: of its address the end, never what signs. */
export const SubscriptionShown = z.object({ ...shown, createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
export type SubscriptionShown = z.infer<typeof SubscriptionShown>

/** The path of one subscription. */
export const SubscriptionPath = z.object({ id: SubscriptionId })

/** `GET /api/v1/webhook-subscriptions` */
export const SubscriptionsAnswer = answer(z.array(SubscriptionShown), z.object({ count: z.int() }))
/** `POST /api/v1/webhook-subscriptions` */
export const NewSubscription = z.strictObject({ ...subscriptionFields, url: SubscriptionSecrets.shape.url.unwrap() })
/** `PUT /api/v1/webhook-subscriptions/{id}`: an address that is not given stays as it was saved. */
export const SubscriptionRequest = z.strictObject({ ...subscriptionFields, url: SubscriptionSecrets.shape.url })
/** Its answer: an address on another server comes with another signing secret, which is in this answer only. */
export const ChangedSubscriptionAnswer = answer(
  SubscriptionShown.extend({ signingSecret: z.string().optional() }),
  z.object({}),
)
/** A subscription that was removed. */
export const SubscriptionAnswer = answer(SubscriptionShown, z.object({}))
/** A subscription with its signing secret, which is told this once. */
export const SignedSubscriptionAnswer = answer(SubscriptionShown.extend({ signingSecret: z.string() }), z.object({}))
/** `POST /api/v1/webhook-subscriptions/{id}/test`: a send that failed is an answer like any other. */
export const SubscriptionTestAnswer = answer(TestedTarget, z.object({}))

/** `GET /api/v1/webhook-subscriptions/{id}/deliveries`: the newest, and what came of each. */
export const SubscriptionDeliveriesAnswer = answer(
  z.array(Delivered.omit({ hostKey: true, channel: true, target: true })),
  z.object({ count: z.int() }),
)
