import { queryOptions } from '@tanstack/svelte-query'
import { call, type RouteBody, type RouteData } from './call.ts'

/** Query key prefix of all webhook subscription queries. */
export const subscriptionsKey = ['webhook-subscriptions'] as const

export type Subscription = RouteData<'GET /api/v1/webhook-subscriptions'>[number]
export type SubscriptionUpdate = RouteBody<'PUT /api/v1/webhook-subscriptions/{id}'>
/** A subscription with its signing secret, which is returned only once. */
export type SignedSubscription = RouteData<'POST /api/v1/webhook-subscriptions'>

/** Query for the webhook subscriptions of the current user. */
export const subscriptionsQuery = () =>
  queryOptions({
    queryKey: [...subscriptionsKey, 'list'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/webhook-subscriptions', { signal })).data,
  })

/** Query for the deliveries of a subscription, newest first. */
export const subscriptionDeliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [...subscriptionsKey, 'sent', id],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v1/webhook-subscriptions/{id}/deliveries', { path: { id }, signal })).data,
  })

export const createSubscription = async (body: RouteBody<'POST /api/v1/webhook-subscriptions'>) =>
  (await call('POST /api/v1/webhook-subscriptions', { body })).data

/** Updates a subscription. If its URL moved to another server, the response contains a new signing secret. */
export const updateSubscription = async (id: string, body: SubscriptionUpdate) =>
  (await call('PUT /api/v1/webhook-subscriptions/{id}', { path: { id }, body })).data

export const rotateSecret = async (id: string) =>
  (await call('POST /api/v1/webhook-subscriptions/{id}/rotate-secret', { path: { id }, body: {} })).data

export const testSubscription = async (id: string) =>
  (await call('POST /api/v1/webhook-subscriptions/{id}/test', { path: { id }, body: {} })).data

export const deleteSubscription = (id: string) => call('DELETE /api/v1/webhook-subscriptions/{id}', { path: { id } })
