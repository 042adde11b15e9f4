import { InboundEvent } from '#proto/inbound-event.ts'
import type { EventFilter } from '#proto/ingest.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'

/** Stores inbound events for the configured retention. */
export interface EventStore {
  /** Stores an event once, even if it arrives repeatedly. */
  put(event: InboundEvent): Promise<void>
  /** Returns events, newest first. */
  list(filter: EventFilter): Promise<InboundEvent[]>
  /** Deletes events received before the given time and returns their number. */
  prune(beforeMs: number): Promise<number>
}

const inboundEvents = defineCollection({
  name: 'watchhouse_events',
  schema: InboundEvent,
  columns: { receivedAt: 'integer', source: 'text', severity: 'text', status: 'text', searched: 'text' },
  indexes: [['receivedAt', 'id']],
  idOf: ({ id }) => id,
  valuesOf: (event) => ({ ...event, searched: buildSearchText(event) }),
})

/** Returns the text that searches match, in lower case. */
const buildSearchText = ({ title, body, resource, dedupKey, source }: InboundEvent): string =>
  [title, body, resource, dedupKey, source].join('\n').toLowerCase()

/** Opens the event store in the database; without one, it holds the newest ten thousand events in memory. */
export const openEventStore = async (database: Database | undefined): Promise<EventStore> => {
  const events = (await openCollections('events', [inboundEvents], database)).of(inboundEvents)
  return {
    async put(event) {
      await events.add([event])
    },
    list: ({ source, severity, status, search, fromMs, toMs, after, limit }) =>
      events.list({
        where: {
          receivedAt: { from: fromMs, before: toMs },
          source,
          severity,
          status,
          searched: { contains: search?.toLowerCase() },
        },
        orderBy: 'receivedAt',
        descending: true,
        after: after && { value: after.receivedAt, id: after.id },
        limit,
      }),
    prune: (beforeMs) => events.remove({ receivedAt: { before: beforeMs } }),
  }
}
