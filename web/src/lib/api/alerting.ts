import { queryOptions } from '@tanstack/svelte-query'
import { call, buildHref, type RouteBody, type RouteData, type RouteParameters } from './call.ts'
import { alertConfigQuery, healthKey } from './health.ts'
import { createRouteQuery } from './route-query.ts'

/** Query key of the alert configuration. It equals `healthKey`, because a change affects all health queries. */
export const alertConfigKey = healthKey

export type ChannelConfig = RouteData<'GET /api/v1/health/alert-config'>['channels'][number]
export type ChannelUpdate = RouteBody<'PUT /api/v1/health/alert-config/channels/{channel}'>
export type AlertTarget = RouteData<'GET /api/v1/health/targets'>[number]
export type WebhookTarget = RouteData<'GET /api/v1/health/webhook-targets'>[number]
export type ChannelTestResult = RouteData<'POST /api/v1/health/channels/{channel}/test'>[number]

/** Query for the channel configuration. Unlike `alertConfigQuery`, it is refetched whenever a page opens. */
export const channelsQuery = () => ({ ...alertConfigQuery(), staleTime: 0 })

/** Query for the notification targets in effect, with the result of their last delivery. */
export const alertTargetsQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/targets')

export const saveChannel = (channel: string, body: ChannelUpdate) =>
  call('PUT /api/v1/health/alert-config/channels/{channel}', { path: { channel }, body })

/** Deletes the stored configuration of a channel, so that files and variables apply again. */
export const resetChannel = (channel: string) =>
  call('DELETE /api/v1/health/alert-config/channels/{channel}', { path: { channel } })

/**
 * Sends a test message to one target of a channel, or to all of them. `settings` are tested instead of the saved ones,
 * without saving them.
 */
export const testChannel = async (
  channel: string,
  target?: string,
  settings?: Readonly<Record<string, string | null>>,
): Promise<ChannelTestResult[]> =>
  (
    await call('POST /api/v1/health/channels/{channel}/test', {
      path: { channel },
      body: { ...(target !== undefined && { target }), ...(settings !== undefined && { settings }) },
    })
  ).data

/** Query for the additional webhook targets. */
export const webhookTargetsQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/webhook-targets')

export type WebhookTargetUpdate = RouteBody<'PUT /api/v1/health/webhook-targets/{id}'>

/** Query for the chats in which the chat application is installed. */
export const chatApplicationQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/chat-application')

/** URL that redirects to the chat service, where the user selects a chat for the installation. */
export const chatInstallationHref = buildHref('GET /api/v1/health/chat-application/install')

export const deleteChatInstallation = (id: string) =>
  call('DELETE /api/v1/health/chat-application/{id}', { path: { id } })

/** Kinds of alert configuration that are lists of entries. */
export type AlertConfigKind =
  | 'webhook-targets'
  | 'custom-rules'
  | 'sql-rules'
  | 'maintenance-windows'
  | 'quiet-hours'
  | 'routes'
export type AlertConfigBody = RouteBody<`PUT /api/v1/health/${AlertConfigKind}/{id}`>

export const createAlertConfig = (kind: AlertConfigKind, body: AlertConfigBody) =>
  // `AlertConfigBody` allows missing fields, as in updates. The service rejects new entries without required fields.
  call(`POST /api/v1/health/${kind}`, { body: body as RouteBody<`POST /api/v1/health/${AlertConfigKind}`> })

export const updateAlertConfig = (kind: AlertConfigKind, id: string, body: AlertConfigBody) =>
  call(`PUT /api/v1/health/${kind}/{id}`, { path: { id }, body })

export const deleteAlertConfig = (kind: AlertConfigKind, id: string) =>
  call(`DELETE /api/v1/health/${kind}/{id}`, { path: { id } })

export type GeneralSettings = RouteData<'GET /api/v1/health/alert-config'>['general']
export type CustomRuleUpdate = RouteBody<'PUT /api/v1/health/custom-rules/{id}'>
export type RuleConfig = RouteData<'GET /api/v1/health/check-alerts'>[number]
export type RuleConfigUpdate = RouteBody<'PUT /api/v1/health/check-alerts/{checkId}'>
export type CustomRule = RouteData<'GET /api/v1/health/custom-rules'>[number]
export type SqlRule = RouteData<'GET /api/v1/health/sql-rules'>[number]
export type SqlRuleUpdate = RouteBody<'PUT /api/v1/health/sql-rules/{id}'>
export type { HostThresholds } from '#proto/alert-policy.ts'
/** Query for the rules with a stored configuration. */
export const ruleConfigsQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/check-alerts')

export const saveRule = (ruleId: string, body: RuleConfigUpdate) =>
  call('PUT /api/v1/health/check-alerts/{checkId}', { path: { checkId: ruleId }, body })

/** Deletes the stored configuration of a rule, so that files, variables and its definition apply again. */
export const resetRule = (ruleId: string) =>
  call('DELETE /api/v1/health/check-alerts/{checkId}', { path: { checkId: ruleId } })

export const saveGeneralSettings = (body: RouteBody<'PUT /api/v1/health/alert-config'>) =>
  call('PUT /api/v1/health/alert-config', { body })

export const saveDigest = (body: RouteBody<'PUT /api/v1/health/alert-digest'>) =>
  call('PUT /api/v1/health/alert-digest', { body })

/** Query for the custom rules and the metrics that they can use. */
export const customRulesQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'custom-rules'],
    queryFn: ({ signal }) => call('GET /api/v1/health/custom-rules', { query: { catalog: '1' }, signal }),
  })

/** Query for the SQL rules. */
export const sqlRulesQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/sql-rules')

/** Evaluates a custom rule once, without saving it. */
export const testRule = async (hostId: number, rule: CustomRuleUpdate) =>
  (await call('POST /api/v1/health/custom-rules/test', { body: { hostId, ...rule } })).data

/** Runs the statement of an SQL rule on one host and evaluates the rule, without saving it. */
export const testSqlRule = async (hostId: number, rule: SqlRuleUpdate) =>
  (await call('POST /api/v1/health/sql-rules/test', { body: { hostId, ...rule } })).data

export type MaintenanceWindow = RouteData<'GET /api/v1/health/maintenance-windows'>[number]
export type QuietHours = RouteData<'GET /api/v1/health/quiet-hours'>[number]
export type AlertRoute = RouteData<'GET /api/v1/health/routes'>[number]

/** Query for maintenance windows, during which no notifications are sent. */
export const maintenanceWindowsQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/maintenance-windows')
/** Query for quiet hours, during which only notifications of a minimum severity are sent. */
export const quietHoursQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/quiet-hours')
/** Query for the notification routes. */
export const alertRoutesQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/routes')

export type MaintenanceWindowUpdate = RouteBody<'PUT /api/v1/health/maintenance-windows/{id}'>
export type QuietHoursUpdate = RouteBody<'PUT /api/v1/health/quiet-hours/{id}'>
export type RouteUpdate = RouteBody<'PUT /api/v1/health/routes/{id}'>

export type DeadLetter = RouteData<'GET /api/v1/health/dead-letters'>[number]

/** Query for notifications and inbound events that could not be delivered, newest first. */
export const deadLettersQuery = () => createRouteQuery(healthKey, 'GET /api/v1/health/dead-letters')

export const replayDeadLetterById = ({ id, stream }: Pick<DeadLetter, 'id' | 'stream'>) =>
  call('POST /api/v1/health/dead-letters/{id}/replay', { path: { id }, body: { stream } })

/** Query for delivery results, newest first. */
export const deliveriesQuery = (result: RouteParameters<'GET /api/v1/health/deliveries'>['result'] | null) =>
  queryOptions({
    queryKey: [...healthKey, 'deliveries', result],
    queryFn: ({ signal }) => call('GET /api/v1/health/deliveries', { query: { result }, signal }),
  })

/** Query for inbound events from other systems, newest first. */
export const eventsQuery = (query: RouteParameters<'GET /api/v1/events'>) =>
  queryOptions({
    queryKey: [...healthKey, 'events', query],
    queryFn: ({ signal }) => call('GET /api/v1/events', { query, signal }),
  })
