import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter, EventDraft, JsonObject } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields, textField } from './fields.ts'
import { parseSeverity } from './severity-status.ts'

const Common = z.looseObject({ action: optionalTextField, repository: z.looseObject({ full_name: z.string() }) })

/** Status by result of a run. Results such as `cancelled` are informational: they neither report nor end a failure. */
const results: Readonly<Record<string, EventStatus>> = {
  success: 'resolved',
  failure: 'firing',
  error: 'firing',
  timed_out: 'firing',
  startup_failure: 'firing',
  action_required: 'firing',
}
const parseResult = (result: string | null): EventStatus => results[result ?? ''] ?? 'info'

const Deployment = z.looseObject({
  deployment_status: z.looseObject({
    id: textField,
    state: z.string(),
    description: optionalTextField,
    target_url: optionalTextField,
    created_at: timestampField,
  }),
  deployment: z
    .looseObject({ environment: optionalTextField, ref: optionalTextField, task: optionalTextField })
    .nullish(),
})

const readDeployment = (repository: string, sent: JsonObject): EventDraft => {
  const { deployment_status: status, deployment } = parseFields(Deployment, sent)
  const environment = firstNonBlank(deployment?.environment)
  return createDraft('github', sent, {
    externalId: status.id,
    dedupKey: `deployment:${repository}:${environment}`,
    status: parseResult(status.state),
    severity: 'warning',
    resource: repository,
    title: `Deployment to ${environment}`,
    body: firstNonBlank(status.description),
    labels: { environment, ref: deployment?.ref, state: status.state },
    occurredAt: status.created_at,
    url: status.target_url,
  })
}

/** A check run, a check suite or a run of a workflow. */
const Check = z.looseObject({
  id: textField,
  name: optionalTextField,
  conclusion: optionalTextField,
  head_branch: optionalTextField,
  html_url: optionalTextField,
  completed_at: timestampField,
  updated_at: timestampField,
  app: z.looseObject({ name: optionalTextField }).nullish(),
  output: z.looseObject({ title: optionalTextField, summary: optionalTextField }).nullish(),
  check_suite: z.looseObject({ head_branch: optionalTextField }).nullish(),
})

const readCheck = (repository: string, given: unknown, sent: JsonObject): EventDraft => {
  const check = parseFields(Check, given)
  const branch = firstNonBlank(check.head_branch, check.check_suite?.head_branch)
  const name = firstNonBlank(check.name, check.app?.name, 'checks')
  return createDraft('github', sent, {
    externalId: check.id,
    dedupKey: `check:${repository}:${branch}:${name}`,
    status: parseResult(check.conclusion),
    severity: 'warning',
    resource: repository,
    title: branch === '' ? name : `${name} on ${branch}`,
    body: firstNonBlank(check.output?.title, check.output?.summary),
    labels: { branch, conclusion: check.conclusion },
    occurredAt: check.completed_at ?? check.updated_at,
    url: check.html_url,
  })
}

/** An alert of Dependabot, code scanning or secret scanning. */
const SecurityAlert = z.looseObject({
  number: textField,
  html_url: optionalTextField,
  created_at: timestampField,
  secret_type_display_name: optionalTextField,
  security_advisory: z.looseObject({ summary: optionalTextField, severity: optionalTextField }).nullish(),
  rule: z
    .looseObject({
      description: optionalTextField,
      severity: optionalTextField,
      security_severity_level: optionalTextField,
    })
    .nullish(),
})

const resolvingActions = new Set(['fixed', 'dismissed', 'auto_dismissed', 'resolved', 'closed_by_user'])
const firingActions = new Set([
  'created',
  'reopened',
  'reintroduced',
  'appeared_in_branch',
  'reopened_by_user',
  'auto_reopened',
])

const parseAlertSeverity = (word: string | null): EventSeverity | null =>
  word === 'critical' || word === 'high' ? 'critical' : parseSeverity(word)

const readSecurityAlert = (repository: string, action: string, kind: string, sent: JsonObject): EventDraft => {
  const alert = parseFields(SecurityAlert, sent.alert)
  const { security_advisory: advisory, rule } = alert
  // GitHub states no severity for a leaked secret. A leaked secret is critical, because it can be misused at once.
  const severity =
    kind === 'secret_scanning_alert' ? 'critical' : firstNonBlank(advisory?.severity, rule?.security_severity_level)
  return createDraft('github', sent, {
    externalId: alert.number,
    dedupKey: `${kind}:${repository}:${alert.number}`,
    status: resolvingActions.has(action) ? 'resolved' : firingActions.has(action) ? 'firing' : 'info',
    severity: parseAlertSeverity(severity) ?? parseSeverity(rule?.severity),
    resource: repository,
    title: firstNonBlank(advisory?.summary, rule?.description, alert.secret_type_display_name, `Alert ${alert.number}`),
    labels: { action, kind },
    occurredAt: firingActions.has(action) ? alert.created_at : null,
    url: alert.html_url,
  })
}

/** Returns the kind of an alert from its fields, for requests without the `X-GitHub-Event` header. */
const detectAlertKind = (alert: JsonObject): string =>
  'security_advisory' in alert
    ? 'dependabot_alert'
    : 'secret_type' in alert
      ? 'secret_scanning_alert'
      : 'code_scanning_alert'

/** Webhooks of GitHub: deployment statuses, checks, workflows and security alerts. Other events are informational. */
export const github: EventAdapter = {
  id: 'github',
  recognizes: ({ repository, sender }, headers) =>
    isJsonObject(repository) &&
    typeof repository.full_name === 'string' &&
    (headers['x-github-event'] !== undefined || isJsonObject(sender)),
  read: (sent, headers) => {
    const { action, repository } = parseFields(Common, sent)
    const event = headers['x-github-event']
    const name = repository.full_name
    if ('deployment_status' in sent) return [readDeployment(name, sent)]
    const check = sent.check_run ?? sent.workflow_run ?? sent.check_suite
    if (check !== undefined) return [readCheck(name, check, sent)]
    if (isJsonObject(sent.alert))
      return [readSecurityAlert(name, action ?? '', event ?? detectAlertKind(sent.alert), sent)]
    const title = `${event ?? 'event'}${action === null ? '' : ` ${action}`}`
    return [createDraft('github', sent, { status: 'info', resource: name, title: `${name}: ${title}` })]
  },
}
