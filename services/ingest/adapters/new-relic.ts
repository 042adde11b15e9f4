import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields, textField } from './fields.ts'

/** Severities by priority. The warning threshold of a condition has the priority `HIGH`. */
const severities: Readonly<Record<string, EventSeverity>> = {
  CRITICAL: 'critical',
  HIGH: 'warning',
  WARNING: 'warning',
  MEDIUM: 'info',
  LOW: 'info',
  INFO: 'info',
}
const statuses: Readonly<Record<string, EventStatus>> = {
  CREATED: 'firing',
  ACTIVATED: 'firing',
  OPEN: 'firing',
  ACKNOWLEDGED: 'acknowledged',
  CLOSED: 'resolved',
}

const textListField = z.union([z.array(z.string()), z.string().transform((text) => [text])]).nullish()

const Issue = z.looseObject({
  id: textField,
  issueUrl: optionalTextField,
  title: optionalTextField,
  priority: optionalTextField,
  state: z.string(),
  impactedEntities: textListField,
  alertPolicyNames: textListField,
  alertConditionNames: textListField,
  workflowName: optionalTextField,
  createdAt: timestampField,
  updatedAt: timestampField,
})

/** The webhook of a New Relic workflow with the default template. */
export const newRelicAdapter: EventAdapter = {
  id: 'new-relic',
  recognizes: ({ id, state, issueUrl, workflowName, impactedEntities }) =>
    id !== undefined &&
    state !== undefined &&
    (issueUrl !== undefined || workflowName !== undefined || impactedEntities !== undefined),
  read: (sent) => {
    const issue = parseFields(Issue, sent)
    const status = statuses[issue.state.toUpperCase()] ?? 'info'
    return [
      createDraft('new-relic', sent, {
        externalId: issue.id,
        dedupKey: issue.id,
        status,
        severity: severities[(issue.priority ?? '').toUpperCase()] ?? null,
        resource: (issue.impactedEntities ?? []).join(', '),
        title: firstNonBlank(issue.title, issue.alertConditionNames?.[0]),
        labels: {
          policy: issue.alertPolicyNames?.join(', '),
          condition: issue.alertConditionNames?.join(', '),
          workflow: issue.workflowName,
        },
        occurredAt: status === 'firing' ? issue.createdAt : issue.updatedAt,
        url: issue.issueUrl,
      }),
    ]
  },
}

const Incident = z.looseObject({
  incident_id: textField,
  condition_name: optionalTextField,
  policy_name: optionalTextField,
  current_state: z.string(),
  severity: optionalTextField,
  details: optionalTextField,
  incident_url: optionalTextField,
  timestamp: timestampField,
  targets: z.array(z.looseObject({ name: optionalTextField })).nullish(),
})

/** The older webhook of New Relic's notification channels. */
export const newRelicIncidentAdapter: EventAdapter = {
  id: 'new-relic',
  recognizes: (sent) =>
    sent.incident_id !== undefined && sent.current_state !== undefined && sent.condition_name !== undefined,
  read: (sent) => {
    const incident = parseFields(Incident, sent)
    return [
      createDraft('new-relic', sent, {
        externalId: incident.incident_id,
        dedupKey: incident.incident_id,
        status: statuses[incident.current_state.toUpperCase()] ?? 'info',
        severity: severities[(incident.severity ?? '').toUpperCase()] ?? null,
        resource: (incident.targets ?? []).map(({ name }) => firstNonBlank(name)).join(', '),
        title: firstNonBlank(incident.condition_name),
        body: firstNonBlank(incident.details),
        labels: { policy: incident.policy_name },
        occurredAt: incident.timestamp,
        url: incident.incident_url,
      }),
    ]
  },
}
