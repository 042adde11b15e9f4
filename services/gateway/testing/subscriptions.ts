import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type Subscription, SubscriptionSecrets, type subscriptionMethods } from '#proto/subscriptions.ts'
import type { GoodRequest } from './auth-requests.ts'
import { opened } from './transit.ts'

const kept: Subscription = {
  id: `whs_${'a'.repeat(24)}`,
  name: 'mine',
  enabled: true,
  minSeverity: 'warning',
  matchRule: '*',
  matchHost: '*',
  url: '••••hook',
  createdAtMs: 1_790_000_000_000,
  updatedAtMs: 1_790_000_000_000,
  failures: 0,
  broken: null,
  last: null,
}

const found = (id: string): Subscription => {
  if (id === kept.id) return kept
  throw new ServiceError('not-found', 'no such subscription among yours', { details: { parameter: 'id' } })
}

const server = 'https://hooks.example/'

/** One subscription, which is anybody's. */
export const fakeSubscriptions: Pick<Handlers<typeof alerts>, keyof typeof subscriptionMethods> = {
  subscriptionsOffered: async () => ({ isOffered: true }),
  subscriptions: async () => [kept],
  addSubscription: async ({ id, fields, encrypted }) => {
    const { url, signingSecret } = SubscriptionSecrets.parse(await opened(encrypted))
    if (url === undefined || signingSecret === undefined) throw new ServiceError('invalid', 'url is required')
    return { ...kept, ...fields, id }
  },
  changeSubscription: async ({ id, fields, encrypted }) => {
    const { url = server, movedSigningSecret } =
      encrypted === undefined ? {} : SubscriptionSecrets.parse(await opened(encrypted))
    const hasMoved = !url.startsWith(server)
    if (hasMoved && movedSigningSecret === undefined) throw new ServiceError('invalid', 'url leads to another server')
    return { ...found(id), ...fields, hasMoved }
  },
  removeSubscription: async ({ id }) => found(id),
  testSubscription: async ({ id }) => ({ name: found(id).name, result: 'ok', reason: null }),
  subscriptionDeliveries: async ({ id }) => {
    found(id)
    return []
  },
}

const path = '/api/v1/webhook-subscriptions'
const one = `${path}/${kept.id}`

/** A good request of every route about webhooks that people bring. */
export const subscriptionRequests: Readonly<Record<string, GoodRequest>> = {
  [`GET ${path}`]: { url: path },
  [`POST ${path}`]: { url: path, body: { name: 'mine', url: 'https://hooks.example/x' } },
  [`PUT ${path}/{id}`]: { url: one, body: { name: 'renamed' } },
  [`POST ${path}/{id}/rotate-secret`]: { url: `${one}/rotate-secret`, body: {} },
  [`POST ${path}/{id}/test`]: { url: `${one}/test`, body: {} },
  [`GET ${path}/{id}/deliveries`]: { url: `${one}/deliveries` },
  [`DELETE ${path}/{id}`]: { url: one },
}
