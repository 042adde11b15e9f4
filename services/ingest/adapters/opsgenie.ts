import { z } from 'zod'
import type { EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { firstNonBlank, timestampField, labelsField, optionalTextField, parseFields } from './fields.ts'
import { parseSeverity } from './severity-status.ts'

const Webhook = z.looseObject({
  action: z.string().min(1),
  alert: z.looseObject({
    alertId: z.string().min(1),
    alias: optionalTextField,
    message: optionalTextField,
    description: optionalTextField,
    entity: optionalTextField,
    priority: optionalTextField,
    source: optionalTextField,
    tags: z.array(z.string()).nullish(),
    details: labelsField,
    createdAt: timestampField,
    updatedAt: timestampField,
  }),
})

/** Status by action; other actions are informational. */
const statuses: Readonly<Record<string, EventStatus>> = {
  create: 'firing',
  escalate: 'firing',
  unacknowledge: 'firing',
  acknowledge: 'acknowledged',
  close: 'resolved',
  delete: 'resolved',
}

/** Returns the time of the last change; if it is missing, the creation time. */
const getChangeTime = ({ updatedAt, createdAt }: { updatedAt: number | null; createdAt: number | null }) =>
  updatedAt ?? createdAt

/** The webhook of Opsgenie: changes to alerts. */
export const opsgenie: EventAdapter = {
  id: 'opsgenie',
  // Other systems also send objects with an action and an alert.
  recognizes: ({ action, alert }) =>
    typeof alert === 'object' &&
    alert !== null &&
    action !== undefined &&
    ('alertId' in alert || (typeof action === 'string' && Object.hasOwn(statuses, action.toLowerCase()))),
  read: (sent) => {
    const { action, alert } = parseFields(Webhook, sent)
    const status = statuses[action.toLowerCase()] ?? 'info'
    const source = 'opsgenie'
    return [
      {
        source,
        externalId: alert.alertId,
        identity: [source, alert.alertId, action, String(getChangeTime(alert))],
        dedupKey: firstNonBlank(alert.alias) || alert.alertId,
        status,
        severity: parseSeverity(alert.priority),
        resource: firstNonBlank(alert.entity, alert.source),
        title: firstNonBlank(alert.message),
        body: firstNonBlank(alert.description),
        labels: { action, ...(alert.tags && { tags: alert.tags.join(', ') }), ...alert.details },
        // If a resolved alert has only its creation time, the time of receipt is used.
        occurredAt: status === 'firing' ? getChangeTime(alert) : alert.updatedAt,
        endsAt: null,
        url: null,
        raw: sent,
      },
    ]
  },
}
