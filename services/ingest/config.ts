import { secretSetting, wholeNumberSetting } from '#shared/config/setting.ts'

/** Settings of `ingest`; the gateway checks the bearer token of its route. */
export const settings = {
  SVC_EVENTS_REEMIT_WEBHOOK_URL: {
    ...secretSetting(
      'HTTPS URL that each ingested event is forwarded to as JSON, best effort; internal addresses are rejected.',
    ),
    fallback: 'off',
  },
  SVC_DEPLOYMENTS_DAYS: wholeNumberSetting(90, 'Retention of deployments received from GitHub, in days.', {
    min: 1,
    max: 3_650,
  }),
  SVC_EVENTS_DAYS: wholeNumberSetting(30, 'Retention of inbound events in days.', { min: 1, max: 3_650 }),
} as const
