import type { ServiceHandlers } from '#proto/contract.ts'
import type { alerts } from '#proto/alerts.ts'
import type { deliveryMethods, SubscriptionScope } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Store } from '#shared/store/store.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'
import type { NotificationTarget } from '../channels/targets.ts'
import type { Policy } from '../policy.ts'
import { TargetRateLimit, getRateLimitKey } from './rate-limit.ts'
import { addressedNotificationTopic, getDeliveryId } from '../notification.ts'
import { openDeadLetters } from './dead-letters.ts'
import { type DeliveryStore, isDeliveryVisible, type VisibleSubscriptions } from './deliveries.ts'

export type DeliveryHandlers = Pick<ServiceHandlers<typeof alerts>, keyof typeof deliveryMethods>

interface HandlerDeps {
  store: Store
  deliveries: DeliveryStore
  policy(): Promise<Policy>
  targets(policy: Policy): readonly NotificationTarget[]
  /** Returns the subscription ids of an owner. */
  subscriptionIdsOf(owner: string): Promise<readonly string[]>
}

/** Returns the handlers for delivery records, targets and dead letters. */
export const createDeliveryHandlers = ({
  store,
  deliveries,
  policy,
  targets,
  subscriptionIdsOf,
}: HandlerDeps): DeliveryHandlers => ({
  deliveries: async ({ subscriptionsOf, ...filter }) =>
    deliveries.list({ ...filter, subscriptions: await listVisibleSubscriptions(subscriptionsOf, subscriptionIdsOf) }),
  alertTargets: async () => {
    // User subscriptions are listed for their owners only.
    const now = targets(await policy()).filter(({ own }) => !own)
    return Promise.all(
      now.map(async ({ channel, id, name, minSeverity }) => {
        const rateLimit = await store.get(getRateLimitKey(channel, id), TargetRateLimit)
        const { failures = 0, broken = null, last = null } = rateLimit ?? {}
        return { channel, id, name, minSeverity, failures, broken, last }
      }),
    )
  },
  deadLetters: async ({ subscriptionsOf, ...page }) => {
    const subscriptions = await listVisibleSubscriptions(subscriptionsOf, subscriptionIdsOf)
    const { letters, next } = await openDeadLetters(store).list(page)
    return {
      letters: letters.map(({ shown }) => shown).filter((letter) => isDeliveryVisible(letter, subscriptions)),
      next,
    }
  },
  replayDeadLetter: async ({ id, subscriptionsOf }) => {
    const dead = await openDeadLetters(store).get(id)
    if (!dead || !isDeliveryVisible(dead.shown, await listVisibleSubscriptions(subscriptionsOf, subscriptionIdsOf)))
      throw new ServiceError('not-found', 'dead letter not found; it may have been resent already')
    const { addressed } = dead
    // The message id contains the id of the dead letter, so that repeated requests resend it only once.
    const message = {
      id: `${getDeliveryId(addressed)}:again:${id}`,
      topic: addressedNotificationTopic,
      payload: addressed,
    }
    await openDeadLetters(store).remove(id, message)
    return dead.shown
  },
})

/** Returns the subscriptions whose deliveries a caller may see. Owners see none while the database is unavailable. */
const listVisibleSubscriptions = async (
  subscriptionsOf: SubscriptionScope | undefined,
  subscriptionIdsOf: HandlerDeps['subscriptionIdsOf'],
): Promise<VisibleSubscriptions> => {
  if (subscriptionsOf === 'everybody') return 'all'
  if (subscriptionsOf === undefined) return []
  return (await ignoreUnavailable(() => subscriptionIdsOf(subscriptionsOf.owner))) ?? []
}
