import { z } from 'zod'
import type { EventStatus } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { firstOf, instant, labelled, maybeWords, understood } from './fields.ts'
import { severityOf } from './words.ts'

/** The webhook of Opsgenie. */
const Webhook = z.looseObject({
  action: z.string().min(1),
  alert: z.looseObject({
    alertId: z.string().min(1),
    alias: maybeWords,
    message: maybeWords,
    description: maybeWords,
    entity: maybeWords,
    priority: maybeWords,
    source: maybeWords,
    tags: z.array(z.string()).nullish(),
    details: labelled,
    createdAt: instant,
    updatedAt: instant,
  }),
})

/** What an action makes of an alert; others tell of its circumstances. */
const statuses: Readonly<Record<string, EventStatus>> = {
  create: 'firing',
  escalate: 'firing',
  unacknowledge: 'firing',
  acknowledge: 'acknowledged',
  close: 'resolved',
  delete: 'resolved',
}

/** Counted in whatever unit it was sent, only to tell one message about an alert from the next. */
const timeIn = ({ updatedAt, createdAt }: { updatedAt: number | null; createdAt: number | null }) =>
  updatedAt ?? createdAt

export const opsgenie: Adapter = {
  id: 'opsgenie',
  // Others send an action upon an alert too, of something else.
  recognises: ({ action, alert }) =>
    typeof alert === 'object' &&
    alert !== null &&
    action !== undefined &&
    ('alertId' in alert || (typeof action === 'string' && Object.hasOwn(statuses, action.toLowerCase()))),
  read: (sent) => {
    const { action, alert } = understood(Webhook, sent)
    const status = statuses[action.toLowerCase()] ?? 'info'
    const source = 'opsgenie'
    return [
      {
        source,
        externalId: alert.alertId,
        identity: [source, alert.alertId, action, String(timeIn(alert))],
        dedupKey: firstOf(alert.alias) || alert.alertId,
        status,
        severity: severityOf(alert.priority),
        resource: firstOf(alert.entity, alert.source),
        title: firstOf(alert.message),
        body: firstOf(alert.description),
        labels: { action, ...(alert.tags && { tags: alert.tags.join(', ') }), ...alert.details },
        // The end of an alert that says only when it began is now.
        occurredAt: status === 'firing' ? timeIn(alert) : alert.updatedAt,
        endsAt: null,
        url: null,
        raw: sent,
      },
    ]
  },
}
