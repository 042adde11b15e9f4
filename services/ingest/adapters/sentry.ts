import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter, EventDraft, JsonObject } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields, textField } from './fields.ts'

const Issue = z.looseObject({
  id: textField,
  shortId: optionalTextField,
  title: optionalTextField,
  culprit: optionalTextField,
  level: optionalTextField,
  permalink: optionalTextField,
  web_url: optionalTextField,
  lastSeen: timestampField,
  project: z.looseObject({ slug: optionalTextField, name: optionalTextField }).nullish(),
})
const IssueEvent = z.looseObject({
  event_id: optionalTextField,
  issue_id: textField,
  title: optionalTextField,
  message: optionalTextField,
  culprit: optionalTextField,
  level: optionalTextField,
  environment: optionalTextField,
  web_url: optionalTextField,
  datetime: timestampField,
})
const MetricAlert = z.looseObject({
  id: textField,
  title: optionalTextField,
  projects: z.array(z.string()).nullish(),
  alert_rule: z.looseObject({ name: optionalTextField }).nullish(),
  date_detected: timestampField,
  date_closed: timestampField,
})
const Webhook = z.looseObject({ action: z.string(), data: z.looseObject({}) })

const severities: Readonly<Record<string, EventSeverity>> = {
  fatal: 'critical',
  error: 'warning',
  warning: 'warning',
  info: 'info',
  debug: 'info',
}
const parseLevel = (level: string | null): EventSeverity | null => severities[level ?? ''] ?? null

const issueStatuses: Readonly<Record<string, EventStatus>> = {
  created: 'firing',
  unresolved: 'firing',
  escalating: 'firing',
  assigned: 'acknowledged',
  archived: 'acknowledged',
  ignored: 'acknowledged',
  resolved: 'resolved',
}

/** Parses a change to an issue. Issue alerts have the same `dedupKey`, so that resolving the issue resolves them. */
const readIssue = (action: string, given: unknown, sent: JsonObject): EventDraft => {
  const issue = parseFields(Issue, given)
  return createDraft('sentry', sent, {
    externalId: issue.id,
    dedupKey: `issue:${issue.id}`,
    status: issueStatuses[action] ?? 'info',
    severity: parseLevel(issue.level),
    resource: firstNonBlank(issue.project?.slug, issue.project?.name),
    title: firstNonBlank(issue.title, issue.shortId),
    body: firstNonBlank(issue.culprit),
    labels: { action, short_id: issue.shortId },
    occurredAt: action === 'created' ? issue.lastSeen : null,
    url: firstNonBlank(issue.web_url, issue.permalink) || null,
  })
}

const readIssueAlert = ({ event, triggered_rule: rule }: JsonObject, sent: JsonObject): EventDraft => {
  const alert = parseFields(IssueEvent, event)
  return createDraft('sentry', sent, {
    externalId: alert.event_id,
    dedupKey: `issue:${alert.issue_id}`,
    status: 'firing',
    severity: parseLevel(alert.level),
    resource: firstNonBlank(alert.environment),
    title: firstNonBlank(alert.title, alert.message),
    body: firstNonBlank(alert.culprit, alert.message),
    labels: { rule: typeof rule === 'string' ? rule : null, environment: alert.environment },
    occurredAt: alert.datetime,
    url: alert.web_url,
  })
}

const readMetricAlert = (
  action: string,
  { metric_alert: given, ...data }: JsonObject,
  sent: JsonObject,
): EventDraft => {
  const alert = parseFields(MetricAlert, given)
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return createDraft('sentry', sent, {
    externalId: alert.id,
    dedupKey: `metric-alert:${alert.id}`,
    status: action === 'resolved' ? 'resolved' : 'firing',
    severity: action === 'critical' ? 'critical' : action === 'warning' ? 'warning' : null,
    resource: (alert.projects ?? []).join(', '),
    title: firstNonBlank(alert.alert_rule?.name, alert.title, text(data.description_title)),
    body: firstNonBlank(text(data.description_text)),
    occurredAt: action === 'resolved' ? alert.date_closed : alert.date_detected,
    url: text(data.web_url),
  })
}

/** The webhooks of a Sentry integration: issues, issue alerts and metric alerts. */
export const sentry: EventAdapter = {
  id: 'sentry',
  recognizes: ({ action, data }, headers) =>
    isJsonObject(data) &&
    typeof action === 'string' &&
    (headers['sentry-hook-resource'] !== undefined || 'issue' in data || 'metric_alert' in data || 'event' in data),
  read: (sent) => {
    const { action, data } = parseFields(Webhook, sent)
    if ('metric_alert' in data) return [readMetricAlert(action, data, sent)]
    if ('issue' in data) return [readIssue(action, data.issue, sent)]
    if (isJsonObject(data.event) && action === 'triggered') return [readIssueAlert(data, sent)]
    return [createDraft('sentry', sent, { status: 'info', title: `Sentry: ${action}` })]
  },
}
