import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { offersSubscriptions } from '#shared/config/webhook-subscriptions.ts'
import { sealKey } from '#shared/seal/config.ts'
import { edgeBinding, edgeDatabase } from '#shared/store/edge-binding.ts'
import { openLastKnown } from '../last-known.ts'
import { openKept, type OpenSubscription } from './subscription.ts'
import { openSubscriptionStore, type SubscriptionStore } from './store.ts'

/** The subscriptions of this installation; there may be none of that kind. */
export interface Subscriptions extends AsyncDisposable {
  /** Whether there is a place to keep them. */
  areKept: boolean
  /** Throws `not-implemented` naming what is missing. */
  store(): SubscriptionStore
  /** Ids of the subscriptions of one owner. */
  idsOf(owner: string): Promise<string[]>
  /** All that can be sent to. */
  current(): Promise<readonly OpenSubscription[]>
  changed(): void
}

interface Place {
  env: Environment
  clock: Clock
  log: Logger
}

/** Opens the edge SQL binding where subscriptions are offered; throws `unavailable` when it does not answer. */
export const openSubscriptions = async ({ env, clock, log }: Place): Promise<Subscriptions> => {
  const { CONVERSATIONS_EDGESQL: bound } = read(edgeBinding, env)
  if (!offersSubscriptions(env)) return without('SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS')
  if (bound === undefined) return without('CONVERSATIONS_EDGESQL')
  await using opening = new AsyncDisposableStack()
  // Loaded only where there is one, as the drivers are large.
  const { openDatabase } = await import('#shared/store/sql/connection.ts')
  const store = await openSubscriptionStore(opening.use(await openDatabase(edgeDatabase(bound))))
  const known = openLastKnown<readonly OpenSubscription[]>({
    initial: await openAll(store, env),
    clock,
    read: () => openAll(store, env),
    log,
    named: 'subscriptions',
  })
  const running = opening.move()
  return {
    areKept: true,
    store: () => store,
    idsOf: async (owner) => (await store.of(owner)).map(({ id }) => id),
    current: () => known.get(),
    changed: () => known.changed(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const openAll = async (store: SubscriptionStore, env: Environment): Promise<OpenSubscription[]> => {
  const key = sealKey(env)
  return (await store.all()).flatMap((kept) => openKept(kept, key) ?? [])
}

const without = (missing: string): Subscriptions => ({
  areKept: false,
  store: () => {
    throw new ServiceError('not-implemented', `no webhooks can be subscribed: the operator has not set ${missing}`)
  },
  idsOf: async () => [],
  current: async () => [],
  changed: () => {},
  [Symbol.asyncDispose]: async () => {},
})
