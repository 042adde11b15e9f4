import type { Delivered, ends } from '#proto/delivery.ts'

/** How a delivery ends. */
export type End = (typeof ends)[number]

/** Which deliveries are wanted, the newest first. */
export interface DeliveryFilter {
  channel?: string | undefined
  target?: string | undefined
  episode?: string | undefined
  result?: End | undefined
  beforeMs?: number | undefined
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
