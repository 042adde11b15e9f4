import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { areWebhookSubscriptionsEnabled } from '#shared/config/shared-settings.ts'
import { readSealKey } from '#shared/seal/config.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import { edgeBindingSettings, toEdgeDatabase } from '#shared/store/edge-binding.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openLastKnownValue } from '#shared/store/last-known-value.ts'
import { decryptSubscription, type DecryptedSubscription, StoredSubscription } from './subscription.ts'

/** Maximum number of subscriptions per user, because each of them adds a delivery to every notification. */
export const maxSubscriptionsPerOwner = 10
const maxSubscriptions = 500

/** Subscriptions in the edge SQL binding. Operations on one subscription require its owner. */
interface SubscriptionStore {
  /** Returns all subscriptions, for delivery. */
  all(): Promise<StoredSubscription[]>
  of(owner: string): Promise<StoredSubscription[]>
  /** Adds a subscription; throws `conflict` if the maximum number is reached. */
  add(stored: StoredSubscription): Promise<void>
  /** Updates a subscription; returns whether it still existed. */
  change(stored: StoredSubscription): Promise<boolean>
  remove(owner: string, id: string): Promise<boolean>
}

const subscriptions = defineCollection({
  name: 'watchhouse_webhook_subscriptions',
  schema: StoredSubscription,
  columns: { owner: 'text' },
  indexes: [['owner']],
  idOf: ({ id }) => id,
  valuesOf: ({ owner }) => ({ owner }),
})

const openSubscriptionStore = async (database: Database): Promise<SubscriptionStore> => {
  const collections = await openCollections('webhook-subscriptions', [subscriptions], database)
  const stored = collections.of(subscriptions)
  return {
    all: () => stored.list(),
    of: (owner) => stored.list({ where: { owner } }),
    add: (added) =>
      collections.atomically(async (within) => {
        const { count, add } = within.of(subscriptions)
        if ((await count({ owner: added.owner })) >= maxSubscriptionsPerOwner)
          throw new ServiceError(
            'conflict',
            `too many subscriptions: the maximum is ${maxSubscriptionsPerOwner} per user; delete one first`,
          )
        if ((await count()) >= maxSubscriptions)
          throw new ServiceError(
            'conflict',
            `too many subscriptions: the maximum is ${maxSubscriptions} in total; delete one first`,
          )
        if ((await add([added])) === 0) throw new TypeError('a subscription with this id already exists')
      }, subscriptions.name),
    async change(changed) {
      const { after } = await stored.change(changed.id, (present) =>
        present?.owner === changed.owner ? changed : undefined,
      )
      return after !== undefined
    },
    remove: async (owner, id) => (await stored.remove({ owner, id })) > 0,
  }
}

/** The subscriptions of this installation, if the feature is available. */
export interface Subscriptions extends AsyncDisposable {
  /** Whether a database for subscriptions is configured. */
  hasStore: boolean
  /** Returns the store of subscriptions; throws `not-implemented` with the name of the missing setting. */
  store(): SubscriptionStore
  /** Returns the subscription ids of an owner. */
  idsOf(owner: string): Promise<string[]>
  /** Returns all subscriptions that can be decrypted. */
  current(): Promise<readonly DecryptedSubscription[]>
  /** Invalidates the cache, so that the next call of `current` reads the database again. */
  changed(): void
}

interface OpenDeps {
  env: Environment
  clock: Clock
  log: Logger
}

/** Opens the edge SQL binding if subscriptions are enabled; throws `unavailable` if it does not respond. */
export const openSubscriptions = async ({ env, clock, log }: OpenDeps): Promise<Subscriptions> => {
  const { CONVERSATIONS_EDGESQL: bound } = parseSettings(edgeBindingSettings, env)
  if (!areWebhookSubscriptionsEnabled(env)) return createUnavailableSubscriptions('SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS')
  if (bound === undefined) return createUnavailableSubscriptions('CONVERSATIONS_EDGESQL')
  await using opening = new AsyncDisposableStack()
  // Loaded only when needed, because the drivers are large.
  const { openDatabase } = await import('#shared/store/sql/connection.ts')
  const store = await openSubscriptionStore(opening.use(await openDatabase(toEdgeDatabase(bound))))
  const known = openLastKnownValue<readonly DecryptedSubscription[]>({
    initial: await decryptAll(store, env),
    clock,
    read: () => decryptAll(store, env),
    log,
    named: 'subscriptions',
  })
  const running = opening.move()
  return {
    hasStore: true,
    store: () => store,
    idsOf: async (owner) => (await store.of(owner)).map(({ id }) => id),
    current: () => known.get(),
    changed: () => known.changed(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const decryptAll = async (store: SubscriptionStore, env: Environment): Promise<DecryptedSubscription[]> => {
  const key = readSealKey(env)
  return (await store.all()).flatMap((stored) => decryptSubscription(stored, key) ?? [])
}

const createUnavailableSubscriptions = (missing: string): Subscriptions => ({
  hasStore: false,
  store: () => {
    throw new ServiceError('not-implemented', `webhook subscriptions are unavailable: ${missing} is not set`)
  },
  idsOf: async () => [],
  current: async () => [],
  changed: () => {},
  [Symbol.asyncDispose]: async () => {},
})
