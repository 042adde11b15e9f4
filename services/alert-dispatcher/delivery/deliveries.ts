import { LRUCache } from 'lru-cache'
import { type Delivered, type ends, subscriptionChannel } from '#proto/delivery.ts'

/** How a delivery ends. */
type End = (typeof ends)[number]

/** Which subscriptions of people somebody may see, by id. */
export type VisibleSubscriptions = 'all' | readonly string[]

/** Which deliveries are wanted, the newest first. */
interface DeliveryFilter {
  channel?: string | undefined
  target?: string | undefined
  episode?: string | undefined
  result?: End | undefined
  beforeMs?: number | undefined
  /** Subscriptions of people that are listed too, by id; none where it is absent. */
  subscriptions?: VisibleSubscriptions | undefined
  limit: number
}

/** What one target took of an episode. */
export interface ToldTarget {
  channel: string
  target: string
  sequence: number
  isOver: boolean
}

/** Keeps how deliveries ended. */
export interface Deliveries {
  /** What was sent stays sent, whatever is said of its notice later. Each id occurs once. */
  put(delivered: readonly Delivered[]): Promise<void>
  list(filter: DeliveryFilter): Promise<Delivered[]>
  /** The latest notice of an episode that each target took, and whether it took its end, for when the live state is lost. */
  toldOf(episode: string): Promise<ToldTarget[]>
  /** Removes those that ended before; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** Whether somebody may see what a target was sent: what belongs to the operator, and the subscriptions named here. */
export const isVisible = (
  { channel, target }: Pick<Delivered, 'channel' | 'target'>,
  subscriptions: VisibleSubscriptions = [],
): boolean => channel !== subscriptionChannel || subscriptions === 'all' || subscriptions.includes(target)

const most = 10_000

/** Deliveries of this process alone, the newest ten thousand; a restart forgets them. */
export const memoryDeliveries = (): Deliveries => {
  const kept = new LRUCache<string, Delivered>({ max: most })
  return {
    async put(delivered) {
      for (const one of delivered) if (kept.get(one.id)?.result !== 'sent') kept.set(one.id, one)
    },
    async list({ channel, target, episode, result, beforeMs = Infinity, subscriptions, limit }) {
      const wanted = [...kept.values()].filter(
        (delivered) =>
          delivered.atMs < beforeMs &&
          isVisible(delivered, subscriptions) &&
          (channel === undefined || delivered.channel === channel) &&
          (target === undefined || delivered.target === target) &&
          (episode === undefined || delivered.episode === episode) &&
          (result === undefined || delivered.result === result),
      )
      return wanted.toSorted((one, other) => other.atMs - one.atMs).slice(0, limit)
    },
    async toldOf(episode) {
      const told = new Map<string, ToldTarget>()
      for (const { episode: of, result, channel, target, sequence, kind } of kept.values()) {
        if (of !== episode || result !== 'sent') continue
        const known = told.get(`${channel}:${target}`)
        const isOver = kind === 'recover' || known?.isOver === true
        told.set(`${channel}:${target}`, {
          channel,
          target,
          sequence: Math.max(sequence, known?.sequence ?? 0),
          isOver,
        })
      }
      return [...told.values()]
    },
    async prune(beforeMs) {
      const old = [...kept.values()].filter(({ atMs }) => atMs < beforeMs)
      for (const { id } of old) kept.delete(id)
      return old.length
    },
  }
}
