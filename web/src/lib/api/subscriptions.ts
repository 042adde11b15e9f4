import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type {
  ChangedSubscriptionAnswer,
  NewSubscription,
  SignedSubscriptionAnswer,
  SubscriptionAnswer,
  SubscriptionDeliveriesAnswer,
  SubscriptionRequest,
  SubscriptionsAnswer,
  SubscriptionTestAnswer,
} from '#proto/http/subscriptions.ts'
import { requestJson } from './request.ts'

const base = '/api/v1/webhook-subscriptions'
const pathOf = (id: string): string => `${base}/${encodeURIComponent(id)}`

/** Every query of subscriptions begins with this key. */
export const subscriptionsKey = ['webhook-subscriptions'] as const

export type Subscription = z.infer<typeof SubscriptionsAnswer>['data'][number]
export type SubscriptionFields = z.input<typeof SubscriptionRequest>
/** A subscription with the secret that signs what it is sent, which is told this once. */
export type SignedSubscription = z.infer<typeof SignedSubscriptionAnswer>['data']

/** The webhooks that who looks has subscribed. */
export const subscriptionsQuery = () =>
  queryOptions({
    queryKey: [...subscriptionsKey, 'list'],
    queryFn: async ({ signal }) => (await requestJson<z.infer<typeof SubscriptionsAnswer>>(base, { signal })).data,
  })

/** What one of them was sent, the newest first. */
export const sentQuery = (id: string) =>
  queryOptions({
    queryKey: [...subscriptionsKey, 'sent', id],
    queryFn: async ({ signal }) =>
      (await requestJson<z.infer<typeof SubscriptionDeliveriesAnswer>>(`${pathOf(id)}/deliveries`, { signal })).data,
  })

export const subscribe = async (body: z.input<typeof NewSubscription>) =>
  (await requestJson<z.infer<typeof SignedSubscriptionAnswer>>(base, { body })).data

/** Where the address is on another server now, with the signing secret that is told this once. */
export const changeSubscription = async (id: string, body: SubscriptionFields) =>
  (await requestJson<z.infer<typeof ChangedSubscriptionAnswer>>(pathOf(id), { method: 'PUT', body })).data

export const rotateSecret = async (id: string) =>
  (await requestJson<z.infer<typeof SignedSubscriptionAnswer>>(`${pathOf(id)}/rotate-secret`, { body: {} })).data

export const testSubscription = async (id: string) =>
  (await requestJson<z.infer<typeof SubscriptionTestAnswer>>(`${pathOf(id)}/test`, { body: {} })).data

export const endSubscription = (id: string) =>
  requestJson<z.infer<typeof SubscriptionAnswer>>(pathOf(id), { method: 'DELETE' })
