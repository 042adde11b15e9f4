import type { InboundEvent } from '#proto/inbound-event.ts'
import type { EventFilter } from '#proto/ingest.ts'

/** Keeps inbound events for as long as the retention says. */
export interface Events {
  /** Adds an event once, however often it comes. */
  put(event: InboundEvent): Promise<void>
  /** The newest first. */
  list(filter: EventFilter): Promise<InboundEvent[]>
  /** Removes what was received before; says how many. */
  prune(beforeMs: number): Promise<number>
}
