import type { Handlers } from '#proto/contract.ts'
import type { alerts } from '#proto/alerts.ts'
import type { deliveryMethods, SubscriptionsOf } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Store } from '#shared/store/store.ts'
import { whenAvailable } from '#shared/bus/when-available.ts'
import type { Target } from '../channels/targets.ts'
import type { Policy } from '../policy.ts'
import { Pace, paceKey } from './pace.ts'
import { addressedTopic, deliveryIdOf } from '../notice.ts'
import { openDeadLetters } from './dead-letters.ts'
import { type Deliveries, isVisible, type VisibleSubscriptions } from './deliveries.ts'

export type DeliveryHandlers = Pick<Handlers<typeof alerts>, keyof typeof deliveryMethods>

interface Answering {
  store: Store
  deliveries: Deliveries
  policy(): Promise<Policy>
  targets(policy: Policy): readonly Target[]
  /** Ids of the subscriptions of one owner. */
  subscriptionIdsOf(owner: string): Promise<readonly string[]>
}

/** What may be asked about how people were told. */
export const deliveryHandlers = ({
  store,
  deliveries,
  policy,
  targets,
  subscriptionIdsOf,
}: Answering): DeliveryHandlers => ({
  deliveries: async ({ subscriptionsOf, ...filter }) =>
    deliveries.list({ ...filter, subscriptions: await visibleTo(subscriptionsOf, subscriptionIdsOf) }),
  alertTargets: async () => {
    // What people brought they see themselves.
    const now = targets(await policy()).filter(({ own }) => !own)
    return Promise.all(
      now.map(async ({ channel, id, name, minSeverity }) => {
        const pace = await store.get(paceKey(channel, id), Pace)
        const { failures = 0, broken = null, last = null } = pace ?? {}
        return { channel, id, name, minSeverity, failures, broken, last }
      }),
    )
  },
  deadLetters: async ({ subscriptionsOf, ...page }) => {
    const subscriptions = await visibleTo(subscriptionsOf, subscriptionIdsOf)
    const { letters, next } = await openDeadLetters(store).list(page)
    return { letters: letters.map(({ shown }) => shown).filter((letter) => isVisible(letter, subscriptions)), next }
  },
  replayDeadLetter: async ({ id, subscriptionsOf }) => {
    const dead = await openDeadLetters(store).get(id)
    if (!dead || !isVisible(dead.shown, await visibleTo(subscriptionsOf, subscriptionIdsOf)))
      throw new ServiceError('not-found', 'no such dead letter; it may have been sent again already')
    const { addressed } = dead
    // Named after the letter, so that asking twice sends once.
    const message = { id: `${deliveryIdOf(addressed)}:again:${id}`, topic: addressedTopic, payload: addressed }
    await openDeadLetters(store).remove(id, message)
    return dead.shown
  },
})

/** Which subscriptions a caller may see; none of its own while they cannot be read. */
const visibleTo = async (
  subscriptionsOf: SubscriptionsOf | undefined,
  subscriptionIdsOf: Answering['subscriptionIdsOf'],
): Promise<VisibleSubscriptions> => {
  if (subscriptionsOf === 'everybody') return 'all'
  if (subscriptionsOf === undefined) return []
  return (await whenAvailable(() => subscriptionIdsOf(subscriptionsOf.owner))) ?? []
}
