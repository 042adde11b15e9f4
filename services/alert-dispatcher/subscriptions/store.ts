import { ServiceError } from '#proto/errors.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { Kept } from './subscription.ts'

/** Every notice is written down for each of them, so they stay few. */
export const mostPerOwner = 10
const mostInAll = 500

/** Subscriptions in the edge SQL binding. Whatever is about one names its owner, so nobody reaches another's. */
export interface SubscriptionStore {
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

export const openSubscriptionStore = async (database: Database): Promise<SubscriptionStore> => {
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
