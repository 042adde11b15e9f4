import { z } from 'zod'
import { TestedTarget } from '../channels.ts'
import { CompletedDelivery } from '../delivery.ts'
import { Subscription, SubscriptionId, SubscriptionSecrets, subscriptionFields } from '../subscriptions.ts'
import { answer } from './answer.ts'

const { createdAtMs: _created, updatedAtMs: _updated, ...shown } = Subscription.shape
/** A subscription for its owner: only the end of its address, never its signing secret. */
export const SubscriptionShown = z.object({ ...shown, createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
export type SubscriptionShown = z.infer<typeof SubscriptionShown>

/** The path of one subscription. */
export const SubscriptionPath = z.object({ id: SubscriptionId })

/** `GET /api/v1/webhook-subscriptions` */
export const SubscriptionsResponse = answer(z.array(SubscriptionShown), z.object({ count: z.int() }))
/** `POST /api/v1/webhook-subscriptions` */
export const NewSubscription = z.strictObject({ ...subscriptionFields, url: SubscriptionSecrets.shape.url.unwrap() })
/** `PUT /api/v1/webhook-subscriptions/{id}`: an absent address is unchanged. */
export const SubscriptionRequest = z.strictObject({ ...subscriptionFields, url: SubscriptionSecrets.shape.url })
/** The response. A new server gets a new signing secret, which only this response contains. */
export const ChangedSubscriptionResponse = answer(
  SubscriptionShown.extend({ signingSecret: z.string().optional() }),
  z.object({}),
)
/** The removed subscription. */
export const SubscriptionResponse = answer(SubscriptionShown, z.object({}))
/** A subscription with its signing secret, which is returned only once. */
export const SignedSubscriptionResponse = answer(SubscriptionShown.extend({ signingSecret: z.string() }), z.object({}))
/** `POST /api/v1/webhook-subscriptions/{id}/test`: a failed send is a result, not an error. */
export const SubscriptionTestResponse = answer(TestedTarget, z.object({}))

/** `GET /api/v1/webhook-subscriptions/{id}/deliveries`: the latest deliveries with their results. */
export const SubscriptionDeliveriesResponse = answer(
  z.array(CompletedDelivery.omit({ hostKey: true, channel: true, target: true })),
  z.object({ count: z.int() }),
)
