import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { Adapter, Draft, Sent } from './adapter.ts'
import { isSent } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstOf, instant, maybeWords, understood, words } from './fields.ts'
import { severityOf } from './words.ts'

const Common = z.looseObject({ action: maybeWords, repository: z.looseObject({ full_name: z.string() }) })

/** Results that end an earlier failure, and those that are one; others, such as `cancelled`, say nothing about it. */
const results: Readonly<Record<string, EventStatus>> = {
  success: 'resolved',
  failure: 'firing',
  error: 'firing',
  timed_out: 'firing',
  startup_failure: 'firing',
  action_required: 'firing',
}
const statusOfResult = (result: string | null): EventStatus => results[result ?? ''] ?? 'info'

const Deployment = z.looseObject({
  deployment_status: z.looseObject({
    id: words,
    state: z.string(),
    description: maybeWords,
    target_url: maybeWords,
    created_at: instant,
  }),
  deployment: z.looseObject({ environment: maybeWords, ref: maybeWords, task: maybeWords }).nullish(),
})

const readDeployment = (repository: string, sent: Sent): Draft => {
  const { deployment_status: status, deployment } = understood(Deployment, sent)
  const environment = firstOf(deployment?.environment)
  return draftOfFields('github', sent, {
    externalId: status.id,
    dedupKey: `deployment:${repository}:${environment}`,
    status: statusOfResult(status.state),
    severity: 'warning',
    resource: repository,
    title: `Deployment to ${environment}`,
    body: firstOf(status.description),
    labels: { environment, ref: deployment?.ref, state: status.state },
    occurredAt: status.created_at,
    url: status.target_url,
  })
}

/** A check run, a check suite or a run of a workflow. */
const Check = z.looseObject({
  id: words,
  name: maybeWords,
  conclusion: maybeWords,
  head_branch: maybeWords,
  html_url: maybeWords,
  completed_at: instant,
  updated_at: instant,
  app: z.looseObject({ name: maybeWords }).nullish(),
  output: z.looseObject({ title: maybeWords, summary: maybeWords }).nullish(),
  check_suite: z.looseObject({ head_branch: maybeWords }).nullish(),
})

const readCheck = (repository: string, given: unknown, sent: Sent): Draft => {
  const check = understood(Check, given)
  const branch = firstOf(check.head_branch, check.check_suite?.head_branch)
  const name = firstOf(check.name, check.app?.name, 'checks')
  return draftOfFields('github', sent, {
    externalId: check.id,
    dedupKey: `check:${repository}:${branch}:${name}`,
    status: statusOfResult(check.conclusion),
    severity: 'warning',
    resource: repository,
    title: branch === '' ? name : `${name} on ${branch}`,
    body: firstOf(check.output?.title, check.output?.summary),
    labels: { branch, conclusion: check.conclusion },
    occurredAt: check.completed_at ?? check.updated_at,
    url: check.html_url,
  })
}

/** An alert of Dependabot, code scanning or secret scanning. */
const SecurityAlert = z.looseObject({
  number: words,
  html_url: maybeWords,
  created_at: instant,
  secret_type_display_name: maybeWords,
  security_advisory: z.looseObject({ summary: maybeWords, severity: maybeWords }).nullish(),
  rule: z.looseObject({ description: maybeWords, severity: maybeWords, security_severity_level: maybeWords }).nullish(),
})

const ends = new Set(['fixed', 'dismissed', 'auto_dismissed', 'resolved', 'closed_by_user'])
const begins = new Set([
  'created',
  'reopened',
  'reintroduced',
  'appeared_in_branch',
  'reopened_by_user',
  'auto_reopened',
])

const severityOfAlert = (word: string | null): EventSeverity | null =>
  word === 'critical' || word === 'high' ? 'critical' : severityOf(word)

const readSecurityAlert = (repository: string, action: string, kind: string, sent: Sent): Draft => {
  const alert = understood(SecurityAlert, sent.alert)
  const { security_advisory: advisory, rule } = alert
  // A secret that leaked can be used at once; GitHub states no severity for it.
  const severity =
    kind === 'secret_scanning_alert' ? 'critical' : firstOf(advisory?.severity, rule?.security_severity_level)
  return draftOfFields('github', sent, {
    externalId: alert.number,
    dedupKey: `${kind}:${repository}:${alert.number}`,
    status: ends.has(action) ? 'resolved' : begins.has(action) ? 'firing' : 'info',
    severity: severityOfAlert(severity) ?? severityOf(rule?.severity),
    resource: repository,
    title: firstOf(advisory?.summary, rule?.description, alert.secret_type_display_name, `Alert ${alert.number}`),
    labels: { action, kind },
    occurredAt: begins.has(action) ? alert.created_at : null,
    url: alert.html_url,
  })
}

/** The kind of alert; a payload without its header field is told by the fields of its alert. */
const kindOf = (alert: Sent): string =>
  'security_advisory' in alert
    ? 'dependabot_alert'
    : 'secret_type' in alert
      ? 'secret_scanning_alert'
      : 'code_scanning_alert'

/** Webhooks of GitHub: deployment statuses, checks, workflows and security alerts. Other events are information. */
export const github: Adapter = {
  id: 'github',
  recognises: ({ repository, sender }, headers) =>
    isSent(repository) &&
    typeof repository.full_name === 'string' &&
    (headers['x-github-event'] !== undefined || isSent(sender)),
  read: (sent, headers) => {
    const { action, repository } = understood(Common, sent)
    const event = headers['x-github-event']
    const name = repository.full_name
    if ('deployment_status' in sent) return [readDeployment(name, sent)]
    const check = sent.check_run ?? sent.workflow_run ?? sent.check_suite
    if (check !== undefined) return [readCheck(name, check, sent)]
    if (isSent(sent.alert)) return [readSecurityAlert(name, action ?? '', event ?? kindOf(sent.alert), sent)]
    const title = `${event ?? 'event'}${action === null ? '' : ` ${action}`}`
    return [draftOfFields('github', sent, { status: 'info', resource: name, title: `${name}: ${title}` })]
  },
}
