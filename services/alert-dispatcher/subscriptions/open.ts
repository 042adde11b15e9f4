import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { offersSubscriptions } from '#shared/config/shared-settings.ts'
import { sealKey } from '#shared/seal/config.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import { edgeBinding, edgeDatabase } from '#shared/store/edge-binding.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openLastKnown } from '../last-known.ts'
import { openKept, type OpenSubscription, Kept } from './subscription.ts'

/** Every notice is written down for each of them, so they stay few. */
export const mostPerOwner = 10
const mostInAll = 500

/** Subscriptions in the edge SQL binding. Whatever is about one names its owner, so nobody reaches another's. */
interface SubscriptionStore {
  /** Of everybody, to be sent to. */
  all(): Promise<Kept[]>
  of(owner: string): Promise<Kept[]>
  /** Throws `conflict` when there are as many as there may be. */
  add(kept: Kept): Promise<void>
  /** False when it is gone. */
  change(kept: Kept): Promise<boolean>
  remove(owner: string, id: string): Promise<boolean>
}

const subscriptions = defineCollection({
  name: 'watchhouse_webhook_subscriptions',
  schema: Kept,
  columns: { owner: 'text' },
  indexes: [['owner']],
  idOf: ({ id }) => id,
  valuesOf: ({ owner }) => ({ owner }),
})

const openSubscriptionStore = async (database: Database): Promise<SubscriptionStore> => {
  const collections = await openCollections('webhook-subscriptions', [subscriptions], database)
  const kept = collections.of(subscriptions)
  return {
    all: () => kept.list(),
    of: (owner) => kept.list({ where: { owner } }),
    add: (added) =>
      collections.atomically(async (within) => {
        const { count, add } = within.of(subscriptions)
        if ((await count({ owner: added.owner })) >= mostPerOwner)
          throw new ServiceError(
            'conflict',
            `there are ${mostPerOwner} subscriptions of yours already; remove one first`,
          )
        if ((await count()) >= mostInAll)
          throw new ServiceError('conflict', 'there are as many subscriptions here as there may be')
        if ((await add([added])) === 0) throw new TypeError('a subscription with this id is there already')
      }, subscriptions.name),
    async change(changed) {
      const { after } = await kept.change(changed.id, (present) =>
        present?.owner === changed.owner ? changed : undefined,
      )
      return after !== undefined
    },
    remove: async (owner, id) => (await kept.remove({ owner, id })) > 0,
  }
}

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
