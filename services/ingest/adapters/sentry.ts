import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { Adapter, Draft, Sent } from './adapter.ts'
import { isSent } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstOf, instant, maybeWords, understood, words } from './fields.ts'

const Issue = z.looseObject({
  id: words,
  shortId: maybeWords,
  title: maybeWords,
  culprit: maybeWords,
  level: maybeWords,
  permalink: maybeWords,
  web_url: maybeWords,
  lastSeen: instant,
  project: z.looseObject({ slug: maybeWords, name: maybeWords }).nullish(),
})
const IssueEvent = z.looseObject({
  event_id: maybeWords,
  issue_id: words,
  title: maybeWords,
  message: maybeWords,
  culprit: maybeWords,
  level: maybeWords,
  environment: maybeWords,
  web_url: maybeWords,
  datetime: instant,
})
const MetricAlert = z.looseObject({
  id: words,
  title: maybeWords,
  projects: z.array(z.string()).nullish(),
  alert_rule: z.looseObject({ name: maybeWords }).nullish(),
  date_detected: instant,
  date_closed: instant,
})
const Webhook = z.looseObject({ action: z.string(), data: z.looseObject({}) })

const severities: Readonly<Record<string, EventSeverity>> = {
  fatal: 'critical',
  error: 'warning',
  warning: 'warning',
  info: 'info',
  debug: 'info',
}
const severityOfLevel = (level: string | null): EventSeverity | null => severities[level ?? ''] ?? null

const issueStatuses: Readonly<Record<string, EventStatus>> = {
  created: 'firing',
  unresolved: 'firing',
  escalating: 'firing',
  assigned: 'acknowledged',
  archived: 'acknowledged',
  ignored: 'acknowledged',
  resolved: 'resolved',
}

/** A change of an issue. Issue alerts have the same key, so that resolving the issue ends them. */
const readIssue = (action: string, given: unknown, sent: Sent): Draft => {
  const issue = understood(Issue, given)
  return draftOfFields('sentry', sent, {
    externalId: issue.id,
    dedupKey: `issue:${issue.id}`,
    status: issueStatuses[action] ?? 'info',
    severity: severityOfLevel(issue.level),
    resource: firstOf(issue.project?.slug, issue.project?.name),
    title: firstOf(issue.title, issue.shortId),
    body: firstOf(issue.culprit),
    labels: { action, short_id: issue.shortId },
    occurredAt: action === 'created' ? issue.lastSeen : null,
    url: firstOf(issue.web_url, issue.permalink) || null,
  })
}

const readIssueAlert = ({ event, triggered_rule: rule }: Sent, sent: Sent): Draft => {
  const alert = understood(IssueEvent, event)
  return draftOfFields('sentry', sent, {
    externalId: alert.event_id,
    dedupKey: `issue:${alert.issue_id}`,
    status: 'firing',
    severity: severityOfLevel(alert.level),
    resource: firstOf(alert.environment),
    title: firstOf(alert.title, alert.message),
    body: firstOf(alert.culprit, alert.message),
    labels: { rule: typeof rule === 'string' ? rule : null, environment: alert.environment },
    occurredAt: alert.datetime,
    url: alert.web_url,
  })
}

const readMetricAlert = (action: string, { metric_alert: given, ...data }: Sent, sent: Sent): Draft => {
  const alert = understood(MetricAlert, given)
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return draftOfFields('sentry', sent, {
    externalId: alert.id,
    dedupKey: `metric-alert:${alert.id}`,
    status: action === 'resolved' ? 'resolved' : 'firing',
    severity: action === 'critical' ? 'critical' : action === 'warning' ? 'warning' : null,
    resource: (alert.projects ?? []).join(', '),
    title: firstOf(alert.alert_rule?.name, alert.title, text(data.description_title)),
    body: firstOf(text(data.description_text)),
    occurredAt: action === 'resolved' ? alert.date_closed : alert.date_detected,
    url: text(data.web_url),
  })
}

/** The webhooks of a Sentry integration: issues, issue alerts and metric alerts. */
export const sentry: Adapter = {
  id: 'sentry',
  recognises: ({ action, data }, headers) =>
    isSent(data) &&
    typeof action === 'string' &&
    (headers['sentry-hook-resource'] !== undefined || 'issue' in data || 'metric_alert' in data || 'event' in data),
  read: (sent) => {
    const { action, data } = understood(Webhook, sent)
    if ('metric_alert' in data) return [readMetricAlert(action, data, sent)]
    if ('issue' in data) return [readIssue(action, data.issue, sent)]
    if (isSent(data.event) && action === 'triggered') return [readIssueAlert(data, sent)]
    return [draftOfFields('sentry', sent, { status: 'info', title: `Sentry: ${action}` })]
  },
}
