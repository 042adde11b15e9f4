import { queryOptions } from '@tanstack/svelte-query'
import { call, type Body, type Data } from './call.ts'

/** Every query of subscriptions begins with this key. */
export const subscriptionsKey = ['webhook-subscriptions'] as const

export type Subscription = Data<'GET /api/v1/webhook-subscriptions'>[number]
export type SubscriptionFields = Body<'PUT /api/v1/webhook-subscriptions/{id}'>
/** A subscription with the secret that signs what it is sent, which is told this once. */
export type SignedSubscription = Data<'POST /api/v1/webhook-subscriptions'>

/** The webhooks that who looks has subscribed. */
export const subscriptionsQuery = () =>
  queryOptions({
    queryKey: [...subscriptionsKey, 'list'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/webhook-subscriptions', { signal })).data,
  })

/** What one of them was sent, the newest first. */
export const sentQuery = (id: string) =>
  queryOptions({
    queryKey: [...subscriptionsKey, 'sent', id],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v1/webhook-subscriptions/{id}/deliveries', { path: { id }, signal })).data,
  })

export const subscribe = async (body: Body<'POST /api/v1/webhook-subscriptions'>) =>
  (await call('POST /api/v1/webhook-subscriptions', { body })).data

/** Where the address is on another server now, with the signing secret that is told this once. */
export const changeSubscription = async (id: string, body: SubscriptionFields) =>
  (await call('PUT /api/v1/webhook-subscriptions/{id}', { path: { id }, body })).data

export const rotateSecret = async (id: string) =>
  (await call('POST /api/v1/webhook-subscriptions/{id}/rotate-secret', { path: { id }, body: {} })).data

export const testSubscription = async (id: string) =>
  (await call('POST /api/v1/webhook-subscriptions/{id}/test', { path: { id }, body: {} })).data

export const endSubscription = (id: string) => call('DELETE /api/v1/webhook-subscriptions/{id}', { path: { id } })
