import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { firstNonBlank, timestampField, labelsField, optionalTextField, parseFields } from './fields.ts'
import { parseSeverity, parseStatus } from './severity-status.ts'

const SummaryField = z.looseObject({ summary: optionalTextField }).nullish()

const Webhook = z.looseObject({
  event: z.looseObject({
    id: z.string().min(1),
    event_type: z.string().min(1),
    occurred_at: timestampField,
    data: z.looseObject({
      id: optionalTextField,
      title: optionalTextField,
      summary: optionalTextField,
      html_url: optionalTextField,
      urgency: optionalTextField,
      status: optionalTextField,
      service: SummaryField,
      priority: SummaryField,
    }),
  }),
})

/** Status by event type; other types are informational. */
const statuses: Readonly<Record<string, EventStatus>> = {
  'incident.triggered': 'firing',
  'incident.reopened': 'firing',
  'incident.escalated': 'firing',
  'incident.unacknowledged': 'firing',
  'incident.acknowledged': 'acknowledged',
  'incident.resolved': 'resolved',
}
const urgencies: Readonly<Record<string, EventSeverity>> = { high: 'critical', low: 'warning' }

/** The webhook of PagerDuty, version 3: changes to incidents. */
export const pagerDutyAdapter: EventAdapter = {
  id: 'pagerduty',
  recognizes: ({ event }) => typeof event === 'object' && event !== null && 'event_type' in event,
  read: (sent, headers) => {
    const { id, event_type: type, occurred_at: occurredAt, data } = parseFields(Webhook, sent).event
    const source = 'pagerduty'
    return [
      {
        source,
        externalId: id,
        identity: [source, headers['x-webhook-id'] ?? id],
        dedupKey: data.id ?? id,
        status: statuses[type] ?? 'info',
        severity: parseSeverity(data.priority?.summary) ?? urgencies[data.urgency ?? ''] ?? null,
        resource: firstNonBlank(data.service?.summary),
        title: firstNonBlank(data.title, data.summary, type),
        body: '',
        labels: { type },
        occurredAt,
        endsAt: null,
        url: data.html_url,
        raw: sent,
      },
    ]
  },
}

const EventV2 = z.looseObject({
  event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
  dedup_key: optionalTextField,
  payload: z
    .looseObject({
      summary: optionalTextField,
      source: optionalTextField,
      severity: optionalTextField,
      timestamp: timestampField,
      component: optionalTextField,
      group: optionalTextField,
      class: optionalTextField,
    })
    .nullish(),
  client_url: optionalTextField,
})

/** Events in the format of the PagerDuty Events API v2, for senders that support no other format. */
export const pagerDutyEventsAdapter: EventAdapter = {
  id: 'pagerduty',
  // Other systems use `event_action` too, so one more field is required.
  recognizes: ({ event_action: action, routing_key: routing, dedup_key: key, payload }) =>
    action !== undefined && [routing, key, payload].some((field) => field !== undefined),
  read: (sent) => {
    const { event_action: action, dedup_key: key, payload, client_url: url } = parseFields(EventV2, sent)
    const { component, group, class: kind } = payload ?? {}
    // PagerDuty also pages for the severity `error`.
    const severity = payload?.severity === 'error' ? 'critical' : parseSeverity(payload?.severity)
    return [
      {
        source: 'pagerduty',
        externalId: key,
        identity: null,
        dedupKey: key,
        status: parseStatus(action) ?? 'info',
        severity,
        resource: firstNonBlank(payload?.source),
        title: firstNonBlank(payload?.summary),
        body: '',
        labels: parseFields(labelsField, { component, group, class: kind }),
        occurredAt: payload?.timestamp ?? null,
        endsAt: null,
        url,
        // The routing key is a secret of the sender.
        raw: { ...sent, routing_key: undefined },
      },
    ]
  },
}
