import type { InboundEvent } from '#proto/inbound-event.ts'
import { forgetOldest } from '#shared/memory/newest.ts'
import type { Events } from './store.ts'

const most = 10_000

/** Events of this process alone, the newest ten thousand; a restart forgets them. */
export const memoryEvents = (): Events => {
  const events = new Map<string, InboundEvent>()
  const forget = forgetOldest(events, most)
  return {
    async put(event) {
      if (events.has(event.id)) return
      events.set(event.id, event)
      forget()
    },
    async list({ source, severity, status, search, fromMs = 0, toMs = Infinity, after, limit }) {
      const wanted = [...events.values()].filter(
        (event) =>
          event.receivedAt >= fromMs &&
          event.receivedAt < toMs &&
          (source === undefined || event.source === source) &&
          (severity === undefined || event.severity === severity) &&
          (status === undefined || event.status === status) &&
          (search === undefined || searched(event).includes(search.toLowerCase())) &&
          (after === undefined || newestFirst(event, after) > 0),
      )
      return wanted.toSorted(newestFirst).slice(0, limit)
    },
    async prune(beforeMs) {
      const old = [...events.values()].filter(({ receivedAt }) => receivedAt < beforeMs)
      for (const { id } of old) events.delete(id)
      return old.length
    },
  }
}

type Place = Pick<InboundEvent, 'receivedAt' | 'id'>

const newestFirst = (one: Place, other: Place): number =>
  other.receivedAt - one.receivedAt || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)

/** What a search looks at. */
export const searched = ({ title, body, resource, dedupKey, source }: InboundEvent): string =>
  [title, body, resource, dedupKey, source].join('\n').toLowerCase()
