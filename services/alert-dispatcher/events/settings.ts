import { flagSetting, listSetting, choiceSetting, wholeNumberSetting } from '#shared/config/setting.ts'

/** Settings that decide which inbound events send notifications. */
export const eventAlertSettings = {
  SVC_EVENTS_ALERTS_ENABLED: flagSetting(
    true,
    'Whether firing inbound events send notifications. Off: events are only stored and forwarded.',
  ),
  SVC_EVENTS_ALERTS_MIN_SEVERITY: choiceSetting(
    ['warning', 'critical'],
    'warning',
    'Minimum severity of inbound events that send notifications, applied before any other minimum. An alert that falls below it recovers.',
  ),
  SVC_EVENTS_ALERTS_EXCEPT_SOURCES: listSetting(
    'Sources of inbound events that send no notifications, comma-separated; * matches any text.',
  ),
  SVC_EVENTS_ALERTS_HOURS: wholeNumberSetting(24, 'Hours after which an inbound event that is not repeated expires.', {
    min: 1,
    max: 720,
  }),
} as const
