import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Draft, Sent } from './adapter.ts'
import { firstOf, instant, labelled, maybeWords, understood } from './fields.ts'
import { severityOf } from './words.ts'

/** What Alertmanager and those that imitate it say of one alert. */
const Alert = z.looseObject({
  status: z.enum(['firing', 'resolved']),
  labels: labelled,
  annotations: labelled,
  startsAt: instant,
  endsAt: instant,
  generatorURL: maybeWords,
  fingerprint: maybeWords,
})

/** One alert of a group; `of` says what its sender names otherwise. */
export const draftOf = (sent: unknown, { source, url }: { source: string; url: string | null }): Draft => {
  const { status, labels, annotations, startsAt, endsAt, generatorURL, fingerprint } = understood(Alert, sent)
  const key = firstOf(fingerprint) || fingerprintOf(labels)
  return {
    source,
    externalId: fingerprint,
    // A later end of what still fires says that it goes on.
    identity: [source, key, status, String(startsAt), endsAt === null ? '' : String(endsAt)],
    dedupKey: key,
    status,
    severity: severityOf(labels.severity ?? labels.priority),
    resource: firstOf(labels.instance, labels.host, labels.pod, labels.service, labels.job),
    title: firstOf(annotations.summary, annotations.title, labels.alertname),
    body: firstOf(annotations.description, annotations.message),
    labels: { ...(annotations.runbook_url && { runbook_url: annotations.runbook_url }), ...labels },
    occurredAt: status === 'resolved' ? (endsAt ?? startsAt) : startsAt,
    endsAt: status === 'resolved' ? null : endsAt,
    url: url ?? generatorURL,
    raw: sent,
  }
}

/** Of an alert without one: its labels are what it is told from others by. */
const fingerprintOf = (labels: Readonly<Record<string, string>>): string => {
  const names = Object.keys(labels).toSorted()
  return JSON.stringify(names.map((name) => [name, labels[name]]))
}

/** The alerts of a group, each read by itself, so that one that is broken takes no other with it. */
export const readGroup = (sent: Sent, read: (alert: unknown) => Draft): (Draft | { error: string })[] => {
  const { alerts } = understood(z.looseObject({ alerts: z.array(z.unknown()) }), sent)
  return alerts.map((alert, index) => {
    try {
      return read(alert)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { error: `alerts.${index}: ${error.message}` }
    }
  })
}
