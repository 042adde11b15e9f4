import type { Adapter, Draft, Sent } from './adapter.ts'
import { firstOf, instantOf, textsOf } from './fields.ts'
import { severityOf, statusOf } from './words.ts'

/** Any object at all: what it says is looked for under the names that people give it, and nothing of it is wrong. */
export const generic: Adapter = {
  id: 'generic',
  recognises: () => true,
  read: (sent, { 'x-webhook-id': id }) => {
    const draft = genericDraft(sent)
    return [id ? { ...draft, identity: [draft.source, id] } : draft]
  },
}

/** What an object of no known shape says. */
export const genericDraft = (sent: Sent): Draft => {
  const severity = said(sent, 'severity', 'level', 'priority', 'sev')
  const status = said(sent, 'status', 'state', 'event_action', 'action')
  const id = said(sent, 'id', 'event_id', 'eventId', 'uuid')
  const source = firstOf(said(sent, 'source', 'origin_system', 'service'), 'generic')
  return {
    source,
    externalId: id || null,
    // Its id may be that of what it is about, which becomes worse under the same one.
    identity: null,
    dedupKey: said(sent, 'dedupKey', 'dedup_key', 'fingerprint', 'alias', 'incident_id', 'incidentId') || null,
    // Who says neither how bad it is nor that it is so tells of something, such as a release.
    status: statusOf(status) ?? (severity === '' && status === '' ? 'info' : byOf(severity)),
    severity: severityOf(severity) ?? severityOf(status),
    resource: said(sent, 'resource', 'host', 'hostname', 'instance', 'entity', 'component', 'service'),
    title: said(sent, 'title', 'name', 'alertname', 'summary', 'message', 'subject', 'text', 'type'),
    body: said(sent, 'body', 'description', 'details', 'message', 'text'),
    labels: { ...labelsIn(sent.tags), ...labelsIn(sent.labels) },
    occurredAt: instantIn(sent, 'occurredAt', 'occurred_at', 'timestamp', 'time', 'startsAt', 'date'),
    endsAt: instantIn(sent, 'endsAt', 'ends_at'),
    url: said(sent, 'url', 'link', 'html_url') || null,
    raw: sent,
  }
}

const byOf = (severity: string): Draft['status'] => (severityOf(severity) === 'info' ? 'info' : 'firing')

/** The first of the fields that is a text or a number, and not empty. */
const said = (sent: Sent, ...names: readonly string[]): string =>
  firstOf(
    ...names.map((name) => {
      const value = sent[name]
      return typeof value === 'string' || typeof value === 'number' ? String(value) : null
    }),
  )

const instantIn = (sent: Sent, ...names: readonly string[]): number | null => {
  for (const name of names) {
    const ms = instantOf(sent[name])
    if (ms !== null) return ms
  }
  return null
}

const labelsIn = (given: unknown): Record<string, string> => {
  if (Array.isArray(given)) return { tags: given.filter((tag) => typeof tag === 'string').join(', ') }
  // What is an object and no list has names.
  return typeof given === 'object' && given !== null ? textsOf(given as Sent) : {}
}
