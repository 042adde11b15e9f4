import { flag, list, oneOf, whole } from '#shared/config/setting.ts'

/** Which inbound events people are told of. */
export const eventAlertSettings = {
  SVC_EVENTS_ALERTS_ENABLED: flag(
    true,
    'Whether people are told of inbound events that fire; off, events are kept and handed on only.',
  ),
  SVC_EVENTS_ALERTS_MIN_SEVERITY: oneOf(
    ['warning', 'critical'],
    'warning',
    'Least severe inbound event that people are told of, before any other floor; what they were told of is over for them once it is milder.',
  ),
  SVC_EVENTS_ALERTS_EXCEPT_SOURCES: list(
    'Sources of inbound events that people are not told of, comma-separated; * stands for any text.',
  ),
  SVC_EVENTS_ALERTS_HOURS: whole(24, 'Hours after which an inbound event that is not repeated counts as over.', {
    min: 1,
    max: 720,
  }),
} as const
