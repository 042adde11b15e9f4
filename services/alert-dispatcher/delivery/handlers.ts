import type { Handlers } from '#proto/contract.ts'
import type { alerts } from '#proto/alerts.ts'
import type { DeadNotice, deliveryMethods, SubscriptionsOf } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { DeadLetter, Queue } from '#shared/bus/durable/queue.ts'
import { type Clock, instant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'
import { whenAvailable } from '#shared/bus/when-available.ts'
import type { Target } from '../channels/targets.ts'
import type { Policy } from '../policy.ts'
import { Pace, paceKey } from './pace.ts'
import { Queued, messageIdOf, subjectOf } from '../notice.ts'
import { type Deliveries, isVisible, type VisibleSubscriptions } from './deliveries.ts'

export type DeliveryHandlers = Pick<Handlers<typeof alerts>, keyof typeof deliveryMethods>

interface Answering {
  store: Store
  queue: Queue
  clock: Clock
  deliveries: Deliveries
  policy(): Promise<Policy>
  targets(policy: Policy): readonly Target[]
  /** Ids of the subscriptions of one owner. */
  subscriptionIdsOf(owner: string): Promise<readonly string[]>
}

/** What may be asked about how people were told. */
export const deliveryHandlers = ({
  store,
  queue,
  clock,
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
    const { letters, next } = await queue.dead.DELIVER.list(page)
    const dead = letters.flatMap((letter) => readDead(letter)?.shown ?? [])
    return { letters: dead.filter((letter) => isVisible(letter, subscriptions)), next }
  },
  replayDeadLetter: async ({ id, subscriptionsOf }) => {
    const letter = await queue.dead.DELIVER.get(id)
    const dead = letter && readDead(letter)
    if (!dead || !isVisible(dead.shown, await visibleTo(subscriptionsOf, subscriptionIdsOf)))
      throw new ServiceError('not-found', 'no such dead letter; it may have been sent again already')
    const body = { ...dead.queued, queuedAtMs: instant(clock) }
    // Named after the letter, so that asking twice sends once.
    await queue.publish(subjectOf(body), { id: `${messageIdOf(body)}:again:${id}`, body })
    await queue.dead.DELIVER.remove(id)
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

/** Undefined for a letter of another stream, or of a release whose messages were different. */
const readDead = (letter: DeadLetter): { queued: Queued; shown: DeadNotice } | undefined => {
  const parsed = Queued.safeParse(letter.body)
  if (!parsed.success) return undefined
  const { id, atMs, reason } = letter
  const { notice, channel, target } = parsed.data
  const { kind, title, hostKey, severity, episode } = notice
  return { queued: parsed.data, shown: { id, atMs, reason, channel, target, kind, title, hostKey, severity, episode } }
}
