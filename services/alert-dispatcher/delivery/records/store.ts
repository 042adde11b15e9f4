import { type Delivered, type ends, subscriptionChannel } from '#proto/delivery.ts'

/** How a delivery ends. */
export type End = (typeof ends)[number]

/** Which subscriptions of people somebody may see, by id. */
export type VisibleSubscriptions = 'all' | readonly string[]

/** Which deliveries are wanted, the newest first. */
export interface DeliveryFilter {
  channel?: string | undefined
  target?: string | undefined
  episode?: string | undefined
  result?: End | undefined
  beforeMs?: number | undefined
  /** Subscriptions of people that are listed too, by id; none where it is absent. */
  subscriptions?: VisibleSubscriptions | undefined
  limit: number
}

/** Keeps how deliveries ended. */
export interface Deliveries {
  /** What was sent stays sent, whatever is said of its message later. */
  put(delivered: Delivered): Promise<void>
  list(filter: DeliveryFilter): Promise<Delivered[]>
  /** The latest notice of an episode that each target took, for when the live state is lost. */
  toldOf(episode: string): Promise<{ channel: string; target: string; sequence: number }[]>
  /** Removes those that ended before; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** Whether somebody may see what a target was sent: what belongs to the operator, and the subscriptions named here. */
export const isVisible = (
  { channel, target }: Pick<Delivered, 'channel' | 'target'>,
  subscriptions: VisibleSubscriptions = [],
): boolean => channel !== subscriptionChannel || subscriptions === 'all' || subscriptions.includes(target)
