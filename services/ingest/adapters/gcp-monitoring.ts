import { z } from 'zod'
import type { EventSeverity } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { isSent } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstOf, instant, labelled, maybeWords, understood, words } from './fields.ts'

const severities: Readonly<Record<string, EventSeverity>> = {
  CRITICAL: 'critical',
  ERROR: 'warning',
  WARNING: 'warning',
}

const Notification = z.looseObject({
  incident: z.looseObject({
    incident_id: words,
    state: z.string(),
    severity: maybeWords,
    started_at: instant,
    ended_at: instant,
    summary: maybeWords,
    url: maybeWords,
    policy_name: maybeWords,
    condition_name: maybeWords,
    resource_display_name: maybeWords,
    resource_name: maybeWords,
    scoping_project_id: maybeWords,
    policy_user_labels: labelled,
  }),
})

/** The webhook of Google Cloud Monitoring; an incident without severity has none. */
export const gcpMonitoring: Adapter = {
  id: 'gcp-monitoring',
  recognises: ({ incident }) => isSent(incident) && incident.incident_id !== undefined && incident.state !== undefined,
  read: (sent) => {
    const { incident } = understood(Notification, sent)
    const isOver = incident.state.toLowerCase() === 'closed'
    return [
      draftOfFields('gcp-monitoring', sent, {
        externalId: incident.incident_id,
        identity: ['gcp-monitoring', incident.incident_id, incident.state],
        dedupKey: incident.incident_id,
        status: isOver ? 'resolved' : 'firing',
        severity: severities[(incident.severity ?? '').toUpperCase()] ?? null,
        resource: firstOf(incident.resource_display_name, incident.resource_name),
        title: firstOf(incident.condition_name, incident.policy_name),
        body: firstOf(incident.summary),
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
