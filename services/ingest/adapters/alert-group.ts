import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { EventDraft, JsonObject } from './adapter.ts'
import { firstNonBlank, timestampField, labelsField, optionalTextField, parseFields } from './fields.ts'
import { parseSeverity } from './severity-status.ts'

/** An alert in the format of Alertmanager, which other systems use too. */
const Alert = z.looseObject({
  status: z.enum(['firing', 'resolved']),
  labels: labelsField,
  annotations: labelsField,
  startsAt: timestampField,
  endsAt: timestampField,
  generatorURL: optionalTextField,
  fingerprint: optionalTextField,
})

/** Parses one alert of a group; `source` and `url` depend on the sender. */
export const parseAlert = (sent: unknown, { source, url }: { source: string; url: string | null }): EventDraft => {
  const { status, labels, annotations, startsAt, endsAt, generatorURL, fingerprint } = parseFields(Alert, sent)
  const key = firstNonBlank(fingerprint) || buildFingerprint(labels)
  return {
    source,
    externalId: fingerprint,
    // The end time is included, because an alert that keeps firing is sent again with a later end time.
    identity: [source, key, status, String(startsAt), endsAt === null ? '' : String(endsAt)],
    dedupKey: key,
    status,
    severity: parseSeverity(labels.severity ?? labels.priority),
    resource: firstNonBlank(labels.instance, labels.host, labels.pod, labels.service, labels.job),
    title: firstNonBlank(annotations.summary, annotations.title, labels.alertname),
    body: firstNonBlank(annotations.description, annotations.message),
    labels: { ...(annotations.runbook_url && { runbook_url: annotations.runbook_url }), ...labels },
    occurredAt: status === 'resolved' ? (endsAt ?? startsAt) : startsAt,
    endsAt: status === 'resolved' ? null : endsAt,
    url: url ?? generatorURL,
    raw: sent,
  }
}

/** Returns a key from the labels, for an alert without a fingerprint. */
const buildFingerprint = (labels: Readonly<Record<string, string>>): string => {
  const names = Object.keys(labels).toSorted()
  return JSON.stringify(names.map((name) => [name, labels[name]]))
}

/** Parses the alerts of a group one by one, so that an invalid one does not affect the others. */
export const parseAlertGroup = (
  sent: JsonObject,
  read: (alert: unknown) => EventDraft,
): (EventDraft | { error: string })[] => {
  const { alerts } = parseFields(z.looseObject({ alerts: z.array(z.unknown()) }), sent)
  return alerts.map((alert, index) => {
    try {
      return read(alert)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { error: `alerts.${index}: ${error.message}` }
    }
  })
}
