import type { alerts } from '#proto/alerts.ts'
import type { TestMessageResult } from '#proto/channels.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type Subscription, SubscriptionSecrets, type subscriptionMethods } from '#proto/subscriptions.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { readSealKey } from '#shared/seal/config.ts'
import type { TransitKeyPair } from '#shared/seal/transit.ts'
import { subscriptionsChannel as channel } from '../channels/subscriptions.ts'
import { listEnabledTargets } from '../channels/targets.ts'
import type { Delivery } from '../delivery/open-delivery.ts'
import { TargetRateLimit, getRateLimitKey } from '../delivery/rate-limit.ts'
import { sendTestMessage, type SendTestDeps } from '../delivery/test-channel.ts'
import { maskSecret } from '../policy/saved-channels/channel-fields.ts'
import { createInvalidParameterError } from '../policy/saved-channels/errors.ts'
import { requireAllowedAddress } from '../policy/saved-channels/save-channel.ts'
import {
  updateSecrets,
  type StoredSubscription,
  decryptSubscription,
  encryptSubscriptionSecret,
} from './subscription.ts'
import type { Subscriptions } from './open-subscriptions.ts'

interface HandlerDeps extends SendTestDeps {
  transit: TransitKeyPair
  subscriptions: Subscriptions
  delivery: Pick<Delivery, 'handlers'>
}

export type SubscriptionHandlers = Pick<ServiceHandlers<typeof alerts>, keyof typeof subscriptionMethods>

/** Returns the handlers for webhook subscriptions of users. */
export const createSubscriptionHandlers = (deps: HandlerDeps): SubscriptionHandlers => {
  const { subscriptions, delivery } = deps
  const foundOf = (which: Pick<StoredSubscription, 'owner' | 'id'>) => requireSubscription(subscriptions, which)
  return {
    subscriptionsOffered: async () => ({ isOffered: subscriptions.hasStore && readSealKey(deps.env) !== undefined }),
    subscriptions: async ({ owner }) =>
      Promise.all((await subscriptions.store().of(owner)).map((stored) => toSubscriptionView(deps, stored))),
    addSubscription: createAddHandler(deps),
    changeSubscription: createChangeHandler(deps),
    async removeSubscription(which) {
      const shown = await toSubscriptionView(deps, await foundOf(which))
      if (!(await subscriptions.store().remove(which.owner, which.id))) throw createUnknownSubscriptionError()
      subscriptions.changed()
      return shown
    },
    testSubscription: async (which) => sendSubscriptionTest(deps, await foundOf(which)),
    async subscriptionDeliveries({ limit, ...which }, call) {
      const { id } = await foundOf(which)
      const filter = { channel: channel.id, target: id, subscriptionsOf: 'everybody' as const }
      return delivery.handlers.deliveries({ ...filter, limit }, call)
    },
  }
}

const createAddHandler =
  (deps: HandlerDeps): SubscriptionHandlers['addSubscription'] =>
  async ({ owner, id, fields, encrypted }) => {
    const { clock, subscriptions } = deps
    const [store, key, nowMs] = [subscriptions.store(), requireKey(deps), clock.now()]
    const { url, signingSecret } = await decryptSecrets(deps, encrypted)
    if (url === undefined) throw createInvalidParameterError('url', 'is required')
    if (signingSecret === undefined) throw createInvalidParameterError('signingSecret', 'is required')
    const secrets = {
      url: encryptSubscriptionSecret({ owner, id }, 'url', url, key),
      signingSecret: encryptSubscriptionSecret({ owner, id }, 'secret', signingSecret, key),
      replaced: null,
    }
    const stored = { ...fields, ...secrets, id, owner, createdAtMs: nowMs, updatedAtMs: nowMs }
    await store.add(stored)
    subscriptions.changed()
    return toSubscriptionView(deps, stored)
  }

const createChangeHandler =
  (deps: HandlerDeps): SubscriptionHandlers['changeSubscription'] =>
  async ({ owner, id, fields, encrypted }) => {
    const { clock, subscriptions } = deps
    const before = await requireSubscription(subscriptions, { owner, id })
    const sealing = { key: requireKey(deps), nowMs: clock.now() }
    const changes = encrypted === undefined ? {} : await decryptSecrets(deps, encrypted)
    const { hasMoved, ...secrets } = updateSecrets(before, changes, sealing)
    const stored = { ...before, ...fields, ...secrets, updatedAtMs: sealing.nowMs }
    if (!(await subscriptions.store().change(stored))) throw createUnknownSubscriptionError()
    subscriptions.changed()
    return { ...(await toSubscriptionView(deps, stored)), hasMoved }
  }

const decryptSecrets = async ({ transit, net }: HandlerDeps, encrypted: string): Promise<SubscriptionSecrets> => {
  const secrets = await transit.decrypt(encrypted, SubscriptionSecrets)
  const { url } = secrets
  if (url === undefined) return secrets
  if (!/^https:/i.test(url)) throw createInvalidParameterError('url', 'must be an absolute URL with https')
  await requireAllowedAddress({ net }, 'url', url)
  return secrets
}

const requireSubscription = async (
  subscriptions: Subscriptions,
  { owner, id }: Pick<StoredSubscription, 'owner' | 'id'>,
): Promise<StoredSubscription> => {
  const stored = (await subscriptions.store().of(owner)).find((each) => each.id === id)
  if (!stored) throw createUnknownSubscriptionError()
  return stored
}

/** Returns the error for an unknown subscription. Those of other users count as unknown, so that ids stay secret. */
const createUnknownSubscriptionError = (): ServiceError =>
  new ServiceError('not-found', 'subscription not found', { details: { parameter: 'id' } })

const requireKey = ({ env }: HandlerDeps): RotatingKey => {
  const key = readSealKey(env)
  if (key) return key
  const missing = 'webhook subscriptions are unavailable: SVC_USER_CONNECTIONS_ENCRYPTION_KEY is not set'
  throw new ServiceError('not-implemented', missing)
}

const toSubscriptionView = async ({ env, store }: HandlerDeps, stored: StoredSubscription): Promise<Subscription> => {
  const { owner: _owner, signingSecret: _secret, replaced: _replaced, url: _url, ...shown } = stored
  const opened = decryptSubscription(stored, readSealKey(env))
  const {
    failures = 0,
    broken = null,
    last = null,
  } = (await store.get(getRateLimitKey(channel.id, stored.id), TargetRateLimit)) ?? {}
  return { ...shown, url: opened ? maskSecret(opened.url) : '', failures, broken, last }
}

const sendSubscriptionTest = async (deps: HandlerDeps, stored: StoredSubscription): Promise<TestMessageResult> => {
  const opened = decryptSubscription(stored, readSealKey(deps.env))
  if (!opened) throw new ServiceError('conflict', 'cannot decrypt the secrets of this subscription; enter them again')
  const policy = {
    channels: {},
    webhookTargets: [],
    subscriptions: [{ ...opened, enabled: true }],
    chatApplications: [],
  }
  const [target] = listEnabledTargets({ channels: [channel], env: deps.env, policy })
  if (!target) throw createUnknownSubscriptionError()
  return sendTestMessage(deps, target)
}
