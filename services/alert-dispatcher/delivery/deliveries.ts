import { LRUCache } from 'lru-cache'
import { limitEntries } from '#shared/store/limit-entries.ts'
import { type CompletedDelivery, type deliveryResults, subscriptionChannel } from '#proto/delivery.ts'

/** Result of a delivery. */
type End = (typeof deliveryResults)[number]

/** Subscriptions whose deliveries the caller may see, by id. */
export type VisibleSubscriptions = 'all' | readonly string[]

/** Filter for deliveries, which are returned newest first. */
interface DeliveryFilter {
  channel?: string | undefined
  target?: string | undefined
  episode?: string | undefined
  result?: End | undefined
  beforeMs?: number | undefined
  /** User subscriptions to include, by id; none if absent. */
  subscriptions?: VisibleSubscriptions | undefined
  limit: number
}

/** The latest notification of an episode that one target received. */
export interface NotifiedTarget {
  channel: string
  target: string
  sequence: number
  isOver: boolean
}

/** Stores the results of deliveries. */
export interface DeliveryStore {
  /** Stores results by id; a `sent` result is never overwritten. */
  put(delivered: readonly CompletedDelivery[]): Promise<void>
  list(filter: DeliveryFilter): Promise<CompletedDelivery[]>
  /** Returns, per target, the latest received notification of an episode and whether the recovery was received. */
  notifiedTargets(episode: string): Promise<NotifiedTarget[]>
  /** Deletes results from before the given time and returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Returns whether the caller may see a delivery: to a target of the operator, or to one of the given subscriptions. */
export const isDeliveryVisible = (
  { channel, target }: Pick<CompletedDelivery, 'channel' | 'target'>,
  subscriptions: VisibleSubscriptions = [],
): boolean => channel !== subscriptionChannel || subscriptions === 'all' || subscriptions.includes(target)

const maxRecords = 10_000

/** Returns a delivery store in memory. It holds the newest ten thousand results, which are lost on restart. */
export const createMemoryDeliveries = (): DeliveryStore => {
  const records = new LRUCache<string, CompletedDelivery>(limitEntries(maxRecords))
  return {
    async put(delivered) {
      for (const one of delivered) if (records.get(one.id)?.result !== 'sent') records.set(one.id, one)
    },
    async list({ channel, target, episode, result, beforeMs = Infinity, subscriptions, limit }) {
      const matching = [...records.values()].filter(
        (delivered) =>
          delivered.atMs < beforeMs &&
          isDeliveryVisible(delivered, subscriptions) &&
          (channel === undefined || delivered.channel === channel) &&
          (target === undefined || delivered.target === target) &&
          (episode === undefined || delivered.episode === episode) &&
          (result === undefined || delivered.result === result),
      )
      return matching.toSorted((one, other) => other.atMs - one.atMs).slice(0, limit)
    },
    async notifiedTargets(episode) {
      const notified = new Map<string, NotifiedTarget>()
      for (const { episode: of, result, channel, target, sequence, kind } of records.values()) {
        if (of !== episode || result !== 'sent') continue
        const known = notified.get(`${channel}:${target}`)
        const isOver = kind === 'recover' || known?.isOver === true
        notified.set(`${channel}:${target}`, {
          channel,
          target,
          sequence: Math.max(sequence, known?.sequence ?? 0),
          isOver,
        })
      }
      return [...notified.values()]
    },
    async prune(beforeMs) {
      const old = [...records.values()].filter(({ atMs }) => atMs < beforeMs)
      for (const { id } of old) records.delete(id)
      return old.length
    },
  }
}
