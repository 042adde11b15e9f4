import { z } from 'zod'
import { TestMessageResult } from '../channels.ts'
import { CompletedDelivery } from '../delivery.ts'
import { Subscription, SubscriptionId, SubscriptionSecrets, subscriptionFields } from '../subscriptions.ts'
import { createResponseSchema } from './response.ts'

const { createdAtMs: _created, updatedAtMs: _updated, ...shown } = Subscription.shape
/** A subscription as its owner sees it: only the end of its address, never its signing secret. */
export const SubscriptionView = z.object({ ...shown, createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
export type SubscriptionView = z.infer<typeof SubscriptionView>

/** Path parameters of requests about one subscription. */
export const SubscriptionPath = z.object({ id: SubscriptionId })

/** Response of `GET /api/v1/webhook-subscriptions`. */
export const SubscriptionsResponse = createResponseSchema(z.array(SubscriptionView), z.object({ count: z.int() }))
/** Body of `POST /api/v1/webhook-subscriptions`. */
export const NewSubscription = z.strictObject({ ...subscriptionFields, url: SubscriptionSecrets.shape.url.unwrap() })
/** Body of `PUT /api/v1/webhook-subscriptions/{id}`. An absent address remains unchanged. */
export const SubscriptionRequest = z.strictObject({ ...subscriptionFields, url: SubscriptionSecrets.shape.url })
/**
 * Response of `PUT /api/v1/webhook-subscriptions/{id}`. If the new address is on another server, only this response
 * contains its new signing secret.
 */
export const ChangedSubscriptionResponse = createResponseSchema(
  SubscriptionView.extend({ signingSecret: z.string().optional() }),
  z.object({}),
)
/** Response of `DELETE /api/v1/webhook-subscriptions/{id}`: the removed subscription. */
export const SubscriptionResponse = createResponseSchema(SubscriptionView, z.object({}))
/** Response with a subscription and its signing secret, which is returned only once. */
export const SignedSubscriptionResponse = createResponseSchema(
  SubscriptionView.extend({ signingSecret: z.string() }),
  z.object({}),
)
/** Response of `POST /api/v1/webhook-subscriptions/{id}/test`. A failed send is a result, not an error. */
export const SubscriptionTestResponse = createResponseSchema(TestMessageResult, z.object({}))

/** Response of `GET /api/v1/webhook-subscriptions/{id}/deliveries`: the latest deliveries with their results. */
export const SubscriptionDeliveriesResponse = createResponseSchema(
  z.array(CompletedDelivery.omit({ hostKey: true, channel: true, target: true })),
  z.object({ count: z.int() }),
)
