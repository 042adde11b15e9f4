import { secret, whole } from '#shared/config/setting.ts'

/** What `ingest` obeys; the bearer of its route is the gateway's. */
export const settings = {
  SVC_EVENTS_REEMIT_WEBHOOK_URL: {
    ...secret(
      'Address, https, that each ingested event is handed on to as JSON, best effort; never one inside the network.',
    ),
    fallback: 'off',
  },
  SVC_DEPLOYMENTS_DAYS: whole(
    90,
    'Age in days at which deployments are forgotten that the repository host told of and charts mark.',
    { min: 1, max: 3_650 },
  ),
  SVC_EVENTS_DAYS: whole(30, 'Age in days at which inbound events are removed.', { min: 1, max: 3_650 }),
} as const
