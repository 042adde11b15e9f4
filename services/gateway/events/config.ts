import { signingKey } from '#shared/config/setting.ts'

/** What lets senders of events in. */
export const eventSettings = {
  SVC_EVENTS_INGEST_TOKEN: signingKey('Bearer of POST /api/events/ingest, which stays shut without it.'),
} as const
