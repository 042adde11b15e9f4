import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { firstOf, instant, labelled, maybeWords, understood } from './fields.ts'
import { severityOf, statusOf } from './words.ts'

const Named = z.looseObject({ summary: maybeWords }).nullish()

/** The webhook of PagerDuty, version 3. */
const Webhook = z.looseObject({
  event: z.looseObject({
    id: z.string().min(1),
    event_type: z.string().min(1),
    occurred_at: instant,
    data: z.looseObject({
      id: maybeWords,
      title: maybeWords,
      summary: maybeWords,
      html_url: maybeWords,
      urgency: maybeWords,
      status: maybeWords,
      service: Named,
      priority: Named,
    }),
  }),
})

/** What became of an incident. Other kinds of event tell of its circumstances. */
const statuses: Readonly<Record<string, EventStatus>> = {
  'incident.triggered': 'firing',
  'incident.reopened': 'firing',
  'incident.escalated': 'firing',
  'incident.unacknowledged': 'firing',
  'incident.acknowledged': 'acknowledged',
  'incident.resolved': 'resolved',
}
const urgencies: Readonly<Record<string, EventSeverity>> = { high: 'critical', low: 'warning' }

export const pagerDuty: Adapter = {
  id: 'pagerduty',
  recognises: ({ event }) => typeof event === 'object' && event !== null && 'event_type' in event,
  read: (sent, headers) => {
    const { id, event_type: type, occurred_at: occurredAt, data } = understood(Webhook, sent).event
    const source = 'pagerduty'
    return [
      {
        source,
        externalId: id,
        identity: [source, headers['x-webhook-id'] ?? id],
        dedupKey: data.id ?? id,
        status: statuses[type] ?? 'info',
        severity: severityOf(data.priority?.summary) ?? urgencies[data.urgency ?? ''] ?? null,
        resource: firstOf(data.service?.summary),
        title: firstOf(data.title, data.summary, type),
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

/** What PagerDuty itself takes as events of version 2, from whoever can send nothing else. */
const Sent2 = z.looseObject({
  event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
  dedup_key: maybeWords,
  payload: z
    .looseObject({
      summary: maybeWords,
      source: maybeWords,
      severity: maybeWords,
      timestamp: instant,
      component: maybeWords,
      group: maybeWords,
      class: maybeWords,
    })
    .nullish(),
  client_url: maybeWords,
})

export const pagerDutyEvents: Adapter = {
  id: 'pagerduty',
  // A word of that name alone is anybody's.
  recognises: ({ event_action: action, routing_key: routing, dedup_key: key, payload }) =>
    action !== undefined && [routing, key, payload].some((field) => field !== undefined),
  read: (sent) => {
    const { event_action: action, dedup_key: key, payload, client_url: url } = understood(Sent2, sent)
    const { component, group, class: kind } = payload ?? {}
    // In this protocol an error is what somebody is woken for.
    const severity = payload?.severity === 'error' ? 'critical' : severityOf(payload?.severity)
    return [
      {
        source: 'pagerduty',
        externalId: key,
        identity: null,
        dedupKey: key,
        status: statusOf(action) ?? 'info',
        severity,
        resource: firstOf(payload?.source),
        title: firstOf(payload?.summary),
        body: '',
        labels: understood(labelled, { component, group, class: kind }),
        occurredAt: payload?.timestamp ?? null,
        endsAt: null,
        url,
        // The routing key is a secret of the sender.
        raw: { ...sent, routing_key: undefined },
      },
    ]
  },
}
