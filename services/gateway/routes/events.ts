import { EventsAnswer, EventsQuery, placeOf } from '#proto/http/events.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const events = getRoute({
  path: '/api/v1/events',
  doc: 'Events that other systems sent, the newest first',
  feature: 'HEALTH',
  access: 'read',
  limit: 'data',
  query: EventsQuery,
  answer: EventsAnswer,
  handle: async ({ query: { from, to, before, limit, ...filter }, call }, { ingest }) => {
    const found = await ingest.events({ ...filter, fromMs: from, toMs: to, after: before, limit }, call)
    const last = found.at(-1)
    return success(found, { next: last && found.length === limit ? placeOf(last) : null })
  },
})
