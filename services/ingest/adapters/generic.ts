import type { EventAdapter, EventDraft, JsonObject } from './adapter.ts'
import { firstNonBlank, parseInstant, stringifyLabels } from './fields.ts'
import { parseSeverity, parseStatus } from './severity-status.ts'

/** Accepts any object and looks for values under common field names. */
export const genericAdapter: EventAdapter = {
  id: 'generic',
  recognizes: () => true,
  read: (sent, { 'x-webhook-id': id }) => {
    const draft = parseGeneric(sent)
    return [id ? { ...draft, identity: [draft.source, id] } : draft]
  },
}

/** Returns the draft of an object in an unknown format. */
export const parseGeneric = (sent: JsonObject): EventDraft => {
  const severity = findFirstField(sent, 'severity', 'level', 'priority', 'sev')
  const status = findFirstField(sent, 'status', 'state', 'event_action', 'action')
  const id = findFirstField(sent, 'id', 'event_id', 'eventId', 'uuid')
  const source = firstNonBlank(findFirstField(sent, 'source', 'origin_system', 'service'), 'generic')
  return {
    source,
    externalId: id || null,
    // The id may identify the alert and not the message: the severity can change while the id stays the same.
    identity: null,
    dedupKey:
      findFirstField(sent, 'dedupKey', 'dedup_key', 'fingerprint', 'alias', 'incident_id', 'incidentId') || null,
    // An event without severity and status is informational, for example a release.
    status: parseStatus(status) ?? (severity === '' && status === '' ? 'info' : deriveStatus(severity)),
    severity: parseSeverity(severity) ?? parseSeverity(status),
    resource: findFirstField(sent, 'resource', 'host', 'hostname', 'instance', 'entity', 'component', 'service'),
    title: findFirstField(sent, 'title', 'name', 'alertname', 'summary', 'message', 'subject', 'text', 'type'),
    body: findFirstField(sent, 'body', 'description', 'details', 'message', 'text'),
    labels: { ...readLabels(sent.tags), ...readLabels(sent.labels) },
    occurredAt: findInstant(sent, 'occurredAt', 'occurred_at', 'timestamp', 'time', 'startsAt', 'date'),
    endsAt: findInstant(sent, 'endsAt', 'ends_at'),
    url: findFirstField(sent, 'url', 'link', 'html_url') || null,
    raw: sent,
  }
}

const deriveStatus = (severity: string): EventDraft['status'] =>
  parseSeverity(severity) === 'info' ? 'info' : 'firing'

/** Returns the first of these fields that is a number or a non-blank text, as text; empty if there is none. */
const findFirstField = (sent: JsonObject, ...names: readonly string[]): string =>
  firstNonBlank(
    ...names.map((name) => {
      const value = sent[name]
      return typeof value === 'string' || typeof value === 'number' ? String(value) : null
    }),
  )

const findInstant = (sent: JsonObject, ...names: readonly string[]): number | null => {
  for (const name of names) {
    const ms = parseInstant(sent[name])
    if (ms !== null) return ms
  }
  return null
}

const readLabels = (labels: unknown): Record<string, string> => {
  if (Array.isArray(labels)) return { tags: labels.filter((tag) => typeof tag === 'string').join(', ') }
  // An object that is not an array has string keys.
  return typeof labels === 'object' && labels !== null ? stringifyLabels(labels as JsonObject) : {}
}
