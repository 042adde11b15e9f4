import type { alerts } from '#proto/alerts.ts'
import type { TestedTarget } from '#proto/channels.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type Subscription, SubscriptionSecrets, type subscriptionMethods } from '#proto/subscriptions.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { sealKey } from '#shared/seal/config.ts'
import type { Transit } from '#shared/seal/transit.ts'
import { subscriptions as channel } from '../channels/subscriptions.ts'
import { targetsNow } from '../channels/targets.ts'
import type { Delivery } from '../delivery/open.ts'
import { Pace, paceKey } from '../delivery/pace.ts'
import { sendTest, type Testing } from '../delivery/test-channel.ts'
import { masked } from '../policy/saved/fields.ts'
import { wrong } from '../policy/saved/refusals.ts'
import { requireAllowed } from '../policy/saved/save-channel.ts'
import { changedSecrets, type Kept, openKept, sealed } from './subscription.ts'
import type { Subscriptions } from './open.ts'

interface Answering extends Testing {
  transit: Transit
  subscriptions: Subscriptions
  delivery: Pick<Delivery, 'handlers'>
}

export type SubscriptionHandlers = Pick<Handlers<typeof alerts>, keyof typeof subscriptionMethods>

/** What people may do with the webhooks that they brought. */
export const subscriptionHandlers = (answering: Answering): SubscriptionHandlers => {
  const { subscriptions, delivery } = answering
  const foundOf = (which: Pick<Kept, 'owner' | 'id'>) => found(subscriptions, which)
  return {
    subscriptionsOffered: async () => ({ isOffered: subscriptions.areKept && sealKey(answering.env) !== undefined }),
    subscriptions: async ({ owner }) =>
      Promise.all((await subscriptions.store().of(owner)).map((kept) => shownOf(answering, kept))),
    addSubscription: add(answering),
    changeSubscription: change(answering),
    async removeSubscription(which) {
      const shown = await shownOf(answering, await foundOf(which))
      if (!(await subscriptions.store().remove(which.owner, which.id))) throw noSuch()
      subscriptions.changed()
      return shown
    },
    testSubscription: async (which) => test(answering, await foundOf(which)),
    async subscriptionDeliveries({ limit, ...which }, call) {
      const { id } = await foundOf(which)
      const filter = { channel: channel.id, target: id, subscriptionsOf: 'everybody' as const }
      return delivery.handlers.deliveries({ ...filter, limit }, call)
    },
  }
}

const add =
  (answering: Answering): SubscriptionHandlers['addSubscription'] =>
  async ({ owner, id, fields, encrypted }) => {
    const { clock, subscriptions } = answering
    const [store, key, nowMs] = [subscriptions.store(), requireKey(answering), clock.now()]
    const { url, signingSecret } = await secretsIn(answering, encrypted)
    if (url === undefined) throw wrong('url', 'is required')
    if (signingSecret === undefined) throw wrong('signingSecret', 'is required')
    const secrets = {
      url: sealed({ owner, id }, 'url', url, key),
      signingSecret: sealed({ owner, id }, 'secret', signingSecret, key),
      replaced: null,
    }
    const kept = { ...fields, ...secrets, id, owner, createdAtMs: nowMs, updatedAtMs: nowMs }
    await store.add(kept)
    subscriptions.changed()
    return shownOf(answering, kept)
  }

const change =
  (answering: Answering): SubscriptionHandlers['changeSubscription'] =>
  async ({ owner, id, fields, encrypted }) => {
    const { clock, subscriptions } = answering
    const before = await found(subscriptions, { owner, id })
    const sealing = { key: requireKey(answering), nowMs: clock.now() }
    const given = encrypted === undefined ? {} : await secretsIn(answering, encrypted)
    const { hasMoved, ...secrets } = changedSecrets(before, given, sealing)
    const kept = { ...before, ...fields, ...secrets, updatedAtMs: sealing.nowMs }
    if (!(await subscriptions.store().change(kept))) throw noSuch()
    subscriptions.changed()
    return { ...(await shownOf(answering, kept)), hasMoved }
  }

const secretsIn = async ({ transit, net }: Answering, encrypted: string): Promise<SubscriptionSecrets> => {
  const secrets = await transit.decrypt(encrypted, SubscriptionSecrets)
  const { url } = secrets
  if (url === undefined) return secrets
  if (!/^https:/i.test(url)) throw wrong('url', 'must be an absolute URL with https')
  await requireAllowed(net, 'url', url)
  return secrets
}

const found = async (subscriptions: Subscriptions, { owner, id }: Pick<Kept, 'owner' | 'id'>): Promise<Kept> => {
  const kept = (await subscriptions.store().of(owner)).find((each) => each.id === id)
  if (!kept) throw noSuch()
  return kept
}

/** Somebody else's is told like one that never was. */
const noSuch = (): ServiceError =>
  new ServiceError('not-found', 'no such subscription among yours', { details: { parameter: 'id' } })

const requireKey = ({ env }: Answering): RotatingKey => {
  const key = sealKey(env)
  if (key) return key
  const missing = 'no webhooks can be subscribed: the operator has not set SVC_USER_CONNECTIONS_ENCRYPTION_KEY'
  throw new ServiceError('not-implemented', missing)
}

const shownOf = async ({ env, store }: Answering, kept: Kept): Promise<Subscription> => {
  const { owner: _owner, signingSecret: _secret, replaced: _replaced, url: _url, ...shown } = kept
  const opened = openKept(kept, sealKey(env))
  const { failures = 0, broken = null, last = null } = (await store.get(paceKey(channel.id, kept.id), Pace)) ?? {}
  return { ...shown, url: opened ? masked(opened.url) : '', failures, broken, last }
}

const test = async (answering: Answering, kept: Kept): Promise<TestedTarget> => {
  const opened = openKept(kept, sealKey(answering.env))
  if (!opened) throw new ServiceError('conflict', 'its secrets do not open with the present key; give them anew')
  const policy = {
    channels: {},
    webhookTargets: [],
    subscriptions: [{ ...opened, enabled: true }],
    chatApplications: [],
  }
  const [target] = targetsNow({ channels: [channel], env: answering.env, policy })
  if (!target) throw noSuch()
  return sendTest(answering, target)
}
