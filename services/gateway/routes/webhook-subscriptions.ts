import { randomBytes } from 'node:crypto'
import { noBody, noQuery } from '#proto/http/parameters.ts'
import {
  ChangedSubscriptionAnswer,
  NewSubscription,
  SignedSubscriptionAnswer,
  SubscriptionAnswer,
  SubscriptionDeliveriesAnswer,
  SubscriptionPath,
  SubscriptionRequest,
  SubscriptionsAnswer,
  type SubscriptionShown,
  SubscriptionTestAnswer,
} from '#proto/http/subscriptions.ts'
import type { Subscription } from '#proto/subscriptions.ts'
import { encryptForAlerts } from '../alert-config/alert-config.ts'
import { parse } from '../request/parse.ts'
import { deleteRoute, getRoute, postRoute, putRoute, type Route } from '../http-route.ts'
import { subscriberOf } from '../alert-config/subscriber.ts'
import { success } from '../response/envelope.ts'

const path = '/api/v1/webhook-subscriptions'
const common = { feature: 'HEALTH', limit: 'data', query: noQuery } as const
const writing = { ...common, access: 'write' } as const

const list = getRoute({
  ...common,
  path,
  doc: 'The webhooks that the caller has subscribed to alerts, and how each of them fares',
  access: 'read',
  answer: SubscriptionsAnswer,
  handle: async ({ call }, gateway) => {
    const found = await gateway.alerts.subscriptions({ owner: subscriberOf(gateway, call) }, call)
    return success(found.map(shown), { count: found.length })
  },
})

const add = postRoute({
  ...writing,
  path,
  doc: 'Subscribes a webhook of the caller; its signing secret is told in this answer and never again',
  body: NewSubscription,
  answer: SignedSubscriptionAnswer,
  handle: async ({ body: { url, ...fields }, call, requestId }, gateway) => {
    const owner = subscriberOf(gateway, call)
    const [id, signingSecret] = [`whs_${randomBytes(12).toString('hex')}`, newSecret()]
    const encrypted = await encryptForAlerts(gateway, { url, signingSecret }, call)
    const deed = { action: 'subscribe-webhook', host: null, target: { id, name: fields.name } }
    const adding = () => gateway.alerts.addSubscription({ owner, id, fields, encrypted }, call)
    return success({ ...shown(await gateway.audit.of(deed, { call, requestId }, adding)), signingSecret }, {})
  },
})

const change = putRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Replaces what is no secret of a subscription, and its address where one is given; an address on another server gets another signing secret, which is in this answer only',
  body: SubscriptionRequest,
  answer: ChangedSubscriptionAnswer,
  handle: async ({ path, body: { url, ...fields }, call, requestId }, gateway) => {
    const which = { owner: subscriberOf(gateway, call), ...parse(SubscriptionPath, path) }
    const movedSigningSecret = newSecret()
    const secrets = { url, movedSigningSecret }
    const encrypted = url === undefined ? undefined : await encryptForAlerts(gateway, secrets, call)
    const deed = { action: 'change-webhook-subscription', host: null, target: { id: which.id, name: fields.name } }
    const changing = () => gateway.alerts.changeSubscription({ ...which, fields, encrypted }, call)
    const { hasMoved, ...changed } = await gateway.audit.of(deed, { call, requestId }, changing)
    return success({ ...shown(changed), ...(hasMoved && { signingSecret: movedSigningSecret }) }, {})
  },
})

const rotate = postRoute({
  ...writing,
  path: `${path}/{id}/rotate-secret`,
  doc: 'Gives a subscription another signing secret, told in this answer only; the one before signs too for a day',
  body: noBody,
  answer: SignedSubscriptionAnswer,
  handle: async ({ path, call, requestId }, gateway) => {
    const which = { owner: subscriberOf(gateway, call), ...parse(SubscriptionPath, path) }
    const signingSecret = newSecret()
    const encrypted = await encryptForAlerts(gateway, { signingSecret }, call)
    const deed = { action: 'rotate-webhook-secret', host: null, target: { id: which.id } }
    const changing = () => gateway.alerts.changeSubscription({ ...which, encrypted }, call)
    const { hasMoved: _, ...changed } = await gateway.audit.of(deed, { call, requestId }, changing)
    return success({ ...shown(changed), signingSecret }, {})
  },
})

const remove = deleteRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Ends a subscription; what waits for it is dropped',
  answer: SubscriptionAnswer,
  handle: async ({ path, call, requestId }, gateway) => {
    const which = { owner: subscriberOf(gateway, call), ...parse(SubscriptionPath, path) }
    const deed = { action: 'end-webhook-subscription', host: null, target: { id: which.id } }
    const removing = () => gateway.alerts.removeSubscription(which, call)
    return success(shown(await gateway.audit.of(deed, { call, requestId }, removing)), {})
  },
})

const test = postRoute({
  ...writing,
  path: `${path}/{id}/test`,
  doc: 'Sends a signed test message to a subscription at once, switched on or not, and says how that went',
  body: noBody,
  answer: SubscriptionTestAnswer,
  handle: async ({ path, call, requestId }, gateway) => {
    const which = { owner: subscriberOf(gateway, call), ...parse(SubscriptionPath, path) }
    const deed = { action: 'test-webhook-subscription', host: null, target: { id: which.id } }
    const testing = () => gateway.alerts.testSubscription(which, call)
    return success(await gateway.audit.of(deed, { call, requestId }, testing), {})
  },
})

const mostDeliveries = 100

const deliveries = getRoute({
  ...common,
  path: `${path}/{id}/deliveries`,
  doc: 'What a subscription was sent, and what came of it; the newest first',
  access: 'read',
  answer: SubscriptionDeliveriesAnswer,
  handle: async ({ path, call }, gateway) => {
    const owner = subscriberOf(gateway, call)
    const { id } = parse(SubscriptionPath, path)
    const found = await gateway.alerts.subscriptionDeliveries({ owner, id, limit: mostDeliveries }, call)
    return success(
      found.map(({ hostKey: _host, channel: _channel, target: _target, ...delivered }) => delivered),
      { count: found.length },
    )
  },
})

const secretBytes = 32
const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

const shown = ({ createdAtMs, updatedAtMs, ...subscription }: Subscription): SubscriptionShown => ({
  ...subscription,
  createdAt: new Date(createdAtMs).toISOString(),
  updatedAt: new Date(updatedAtMs).toISOString(),
})

/** Webhooks that people bring themselves. */
export const webhookSubscriptionRoutes: readonly Route[] = [list, add, change, rotate, remove, test, deliveries]
