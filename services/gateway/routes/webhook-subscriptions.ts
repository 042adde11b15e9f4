import { randomBytes } from 'node:crypto'
import { emptyRequestBody, noQuery } from '#proto/http/parameters.ts'
import {
  ChangedSubscriptionResponse,
  NewSubscription,
  SignedSubscriptionResponse,
  SubscriptionResponse,
  SubscriptionDeliveriesResponse,
  SubscriptionPath,
  SubscriptionRequest,
  SubscriptionsResponse,
  type SubscriptionView,
  SubscriptionTestResponse,
} from '#proto/http/subscriptions.ts'
import type { Subscription } from '#proto/subscriptions.ts'
import { encryptAlertSecrets } from '../alert-config/alert-config.ts'
import { parseRequestInput } from '../request/parse.ts'
import { defineDeleteRoute, defineGetRoute, definePostRoute, definePutRoute, type Route } from '../http-route.ts'
import { requireSubscriber } from '../alert-config/subscriber.ts'
import { createSuccessBody } from '../response/envelope.ts'

const path = '/api/v1/webhook-subscriptions'
const common = { feature: 'HEALTH', limit: 'data', query: noQuery } as const
const writing = { ...common, access: 'write' } as const

const list = defineGetRoute({
  ...common,
  path,
  doc: 'Lists the webhook subscriptions of the caller with their delivery status',
  access: 'read',
  answer: SubscriptionsResponse,
  handle: async ({ call }, gateway) => {
    const found = await gateway.alerts.subscriptions({ owner: requireSubscriber(gateway, call) }, call)
    return createSuccessBody(found.map(toSubscriptionView), { count: found.length })
  },
})

const add = definePostRoute({
  ...writing,
  path,
  doc: 'Subscribes a webhook of the caller to alerts; the signing secret is only in this response',
  body: NewSubscription,
  answer: SignedSubscriptionResponse,
  handle: async ({ body: { url, ...fields }, call, requestId }, gateway) => {
    const owner = requireSubscriber(gateway, call)
    const [id, signingSecret] = [`whs_${randomBytes(12).toString('hex')}`, generateSigningSecret()]
    const encrypted = await encryptAlertSecrets(gateway, { url, signingSecret }, call)
    const action = { action: 'subscribe-webhook', host: null, target: { id, name: fields.name } }
    const addSubscription = () => gateway.alerts.addSubscription({ owner, id, fields, encrypted }, call)
    return createSuccessBody(
      { ...toSubscriptionView(await gateway.audit.of(action, { call, requestId }, addSubscription)), signingSecret },
      {},
    )
  },
})

const change = definePutRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Updates a subscription, and its URL if provided. A URL on another server gets a new signing secret, which is only in this response',
  body: SubscriptionRequest,
  answer: ChangedSubscriptionResponse,
  handle: async ({ path, body: { url, ...fields }, call, requestId }, gateway) => {
    const key = { owner: requireSubscriber(gateway, call), ...parseRequestInput(SubscriptionPath, path) }
    const movedSigningSecret = generateSigningSecret()
    const secrets = { url, movedSigningSecret }
    const encrypted = url === undefined ? undefined : await encryptAlertSecrets(gateway, secrets, call)
    const action = { action: 'change-webhook-subscription', host: null, target: { id: key.id, name: fields.name } }
    const changing = () => gateway.alerts.changeSubscription({ ...key, fields, encrypted }, call)
    const { hasMoved, ...changed } = await gateway.audit.of(action, { call, requestId }, changing)
    return createSuccessBody(
      { ...toSubscriptionView(changed), ...(hasMoved && { signingSecret: movedSigningSecret }) },
      {},
    )
  },
})

const rotate = definePostRoute({
  ...writing,
  path: `${path}/{id}/rotate-secret`,
  doc: 'Rotates the signing secret of a subscription. The new secret is only in this response; the previous one also signs for a day',
  body: emptyRequestBody,
  answer: SignedSubscriptionResponse,
  handle: async ({ path, call, requestId }, gateway) => {
    const key = { owner: requireSubscriber(gateway, call), ...parseRequestInput(SubscriptionPath, path) }
    const signingSecret = generateSigningSecret()
    const encrypted = await encryptAlertSecrets(gateway, { signingSecret }, call)
    const action = { action: 'rotate-webhook-secret', host: null, target: { id: key.id } }
    const changing = () => gateway.alerts.changeSubscription({ ...key, encrypted }, call)
    const { hasMoved: _, ...changed } = await gateway.audit.of(action, { call, requestId }, changing)
    return createSuccessBody({ ...toSubscriptionView(changed), signingSecret }, {})
  },
})

const remove = defineDeleteRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Deletes a subscription and drops its pending deliveries',
  answer: SubscriptionResponse,
  handle: async ({ path, call, requestId }, gateway) => {
    const key = { owner: requireSubscriber(gateway, call), ...parseRequestInput(SubscriptionPath, path) }
    const action = { action: 'end-webhook-subscription', host: null, target: { id: key.id } }
    const removing = () => gateway.alerts.removeSubscription(key, call)
    return createSuccessBody(toSubscriptionView(await gateway.audit.of(action, { call, requestId }, removing)), {})
  },
})

const test = definePostRoute({
  ...writing,
  path: `${path}/{id}/test`,
  doc: 'Sends a signed test message to a subscription, even when it is disabled, and returns the result',
  body: emptyRequestBody,
  answer: SubscriptionTestResponse,
  handle: async ({ path, call, requestId }, gateway) => {
    const key = { owner: requireSubscriber(gateway, call), ...parseRequestInput(SubscriptionPath, path) }
    const action = { action: 'test-webhook-subscription', host: null, target: { id: key.id } }
    const testing = () => gateway.alerts.testSubscription(key, call)
    return createSuccessBody(await gateway.audit.of(action, { call, requestId }, testing), {})
  },
})

const maxDeliveries = 100

const deliveries = defineGetRoute({
  ...common,
  path: `${path}/{id}/deliveries`,
  doc: 'Lists the deliveries to a subscription and their results, newest first',
  access: 'read',
  answer: SubscriptionDeliveriesResponse,
  handle: async ({ path, call }, gateway) => {
    const owner = requireSubscriber(gateway, call)
    const { id } = parseRequestInput(SubscriptionPath, path)
    const found = await gateway.alerts.subscriptionDeliveries({ owner, id, limit: maxDeliveries }, call)
    return createSuccessBody(
      found.map(({ hostKey: _host, channel: _channel, target: _target, ...delivered }) => delivered),
      { count: found.length },
    )
  },
})

const secretBytes = 32
const generateSigningSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

const toSubscriptionView = ({ createdAtMs, updatedAtMs, ...subscription }: Subscription): SubscriptionView => ({
  ...subscription,
  createdAt: new Date(createdAtMs).toISOString(),
  updatedAt: new Date(updatedAtMs).toISOString(),
})

/** Routes of webhook subscriptions. */
export const webhookSubscriptionRoutes: readonly Route[] = [list, add, change, rotate, remove, test, deliveries]
