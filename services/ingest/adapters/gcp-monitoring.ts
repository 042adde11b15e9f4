import { z } from 'zod'
import type { EventSeverity } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, labelsField, optionalTextField, parseFields, textField } from './fields.ts'

const severities: Readonly<Record<string, EventSeverity>> = {
  CRITICAL: 'critical',
  ERROR: 'warning',
  WARNING: 'warning',
}

const Notification = z.looseObject({
  incident: z.looseObject({
    incident_id: textField,
    state: z.string(),
    severity: optionalTextField,
    started_at: timestampField,
    ended_at: timestampField,
    summary: optionalTextField,
    url: optionalTextField,
    policy_name: optionalTextField,
    condition_name: optionalTextField,
    resource_display_name: optionalTextField,
    resource_name: optionalTextField,
    scoping_project_id: optionalTextField,
    policy_user_labels: labelsField,
  }),
})

/** The webhook of Google Cloud Monitoring. The severity of an incident is optional. */
export const gcpMonitoringAdapter: EventAdapter = {
  id: 'gcp-monitoring',
  recognizes: ({ incident }) =>
    isJsonObject(incident) && incident.incident_id !== undefined && incident.state !== undefined,
  read: (sent) => {
    const { incident } = parseFields(Notification, sent)
    const isOver = incident.state.toLowerCase() === 'closed'
    return [
      createDraft('gcp-monitoring', sent, {
        externalId: incident.incident_id,
        identity: ['gcp-monitoring', incident.incident_id, incident.state],
        dedupKey: incident.incident_id,
        status: isOver ? 'resolved' : 'firing',
        severity: severities[(incident.severity ?? '').toUpperCase()] ?? null,
        resource: firstNonBlank(incident.resource_display_name, incident.resource_name),
        title: firstNonBlank(incident.condition_name, incident.policy_name),
        body: firstNonBlank(incident.summary),
        labels: {
          policy: incident.policy_name,
          project: incident.scoping_project_id,
          ...incident.policy_user_labels,
        },
        occurredAt: isOver ? (incident.ended_at ?? incident.started_at) : incident.started_at,
        url: incident.url,
      }),
    ]
  },
}
