import { queryOptions } from '@tanstack/svelte-query'
import { call, hrefOf, type Body, type Data, type Query } from './call.ts'
import { alertConfigQuery, healthKey } from './health.ts'
import { routeQuery } from './route-query.ts'

/** Whatever operators settle of alerts renews every query of health, as the service judges by it at once. */
export const settledKey = healthKey

export type ChannelSettled = Data<'GET /api/v1/health/alert-config'>['channels'][number]
export type ChannelSaving = Body<'PUT /api/v1/health/alert-config/channels/{channel}'>
export type AlertTarget = Data<'GET /api/v1/health/targets'>[number]
export type WebhookTarget = Data<'GET /api/v1/health/webhook-targets'>[number]
export type Tested = Data<'POST /api/v1/health/channels/{channel}/test'>[number]

/** What is settled of channels; asked anew when the page is opened, unlike where it only tells whether anybody is told. */
export const channelsQuery = () => ({ ...alertConfigQuery(), staleTime: 0 })

/** Where alerts go now, and how each of these places fares. */
export const targetsQuery = () => routeQuery(healthKey, 'GET /api/v1/health/targets')

export const saveChannel = (channel: string, body: ChannelSaving) =>
  call('PUT /api/v1/health/alert-config/channels/{channel}', { path: { channel }, body })

/** Leaves a channel to files and variables again. */
export const forgetChannel = (channel: string) =>
  call('DELETE /api/v1/health/alert-config/channels/{channel}', { path: { channel } })

/** Sends a test message to one target of a channel, or to all of them. */
export const testChannel = async (channel: string, target?: string): Promise<Tested[]> =>
  (
    await call('POST /api/v1/health/channels/{channel}/test', {
      path: { channel },
      body: { ...(target !== undefined && { target }) },
    })
  ).data

/** Further webhooks. */
export const webhookTargetsQuery = () => routeQuery(healthKey, 'GET /api/v1/health/webhook-targets')

export type WebhookSaving = Body<'PUT /api/v1/health/webhook-targets/{id}'>

/** The chats that the chat application is installed for. */
export const chatApplicationQuery = () => routeQuery(healthKey, 'GET /api/v1/health/chat-application')

/** Leads to the page of the chat service where a chat is chosen. */
export const installChatPage = hrefOf('GET /api/v1/health/chat-application/install')

export const removeChat = (id: string) => call('DELETE /api/v1/health/chat-application/{id}', { path: { id } })

/** Kinds of things of which operators settle several. */
export type SettledKind = 'webhook-targets' | 'custom-rules' | 'maintenance-windows' | 'quiet-hours' | 'routes'
/** What is sent of one of them. */
export type SettledBody = Body<`PUT /api/v1/health/${SettledKind}/{id}`>

export const settle = (kind: SettledKind, body: SettledBody) =>
  // The form of a new one demands what the other leaves as it was.
  call(`POST /api/v1/health/${kind}`, { body: body as Body<`POST /api/v1/health/${SettledKind}`> })

/** Puts something else in the place of what was settled. */
export const resettle = (kind: SettledKind, id: string, body: SettledBody) =>
  call(`PUT /api/v1/health/${kind}/{id}`, { path: { id }, body })

export const unsettle = (kind: SettledKind, id: string) => call(`DELETE /api/v1/health/${kind}/{id}`, { path: { id } })

export type GeneralSettings = Data<'GET /api/v1/health/alert-config'>['general']
export type CustomRuleSaving = Body<'PUT /api/v1/health/custom-rules/{id}'>
export type RuleSettled = Data<'GET /api/v1/health/check-alerts'>[number]
export type RuleSaving = Body<'PUT /api/v1/health/check-alerts/{checkId}'>
export type CustomRule = Data<'GET /api/v1/health/custom-rules'>[number]
/** Rules about which something is settled. */
export const settledRulesQuery = () => routeQuery(healthKey, 'GET /api/v1/health/check-alerts')

export const saveRule = (ruleId: string, body: RuleSaving) =>
  call('PUT /api/v1/health/check-alerts/{checkId}', { path: { checkId: ruleId }, body })

/** Leaves a rule to files, variables and its own definition again. */
export const forgetRule = (ruleId: string) =>
  call('DELETE /api/v1/health/check-alerts/{checkId}', { path: { checkId: ruleId } })

export const saveGeneral = (body: Body<'PUT /api/v1/health/alert-config'>) =>
  call('PUT /api/v1/health/alert-config', { body })

export const saveDigest = (body: Body<'PUT /api/v1/health/alert-digest'>) =>
  call('PUT /api/v1/health/alert-digest', { body })

/** Rules that operators put on metrics, and the metrics there are. */
export const customRulesQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'custom-rules'],
    queryFn: ({ signal }) => call('GET /api/v1/health/custom-rules', { query: { catalog: '1' }, signal }),
  })

/** Measures once what a rule would judge. */
export const testRule = async (hostId: number, rule: CustomRuleSaving) =>
  (await call('POST /api/v1/health/custom-rules/test', { body: { hostId, ...rule } })).data

export type MaintenanceWindow = Data<'GET /api/v1/health/maintenance-windows'>[number]
export type QuietHours = Data<'GET /api/v1/health/quiet-hours'>[number]
export type AlertRoute = Data<'GET /api/v1/health/routes'>[number]

/** Times in which nobody is told anything. */
export const maintenanceQuery = () => routeQuery(healthKey, 'GET /api/v1/health/maintenance-windows')
/** Hours of the week in which people are told of less. */
export const quietHoursQuery = () => routeQuery(healthKey, 'GET /api/v1/health/quiet-hours')
/** Who is told of what. */
export const routesQuery = () => routeQuery(healthKey, 'GET /api/v1/health/routes')

export type MaintenanceSaving = Body<'PUT /api/v1/health/maintenance-windows/{id}'>
export type QuietHoursSaving = Body<'PUT /api/v1/health/quiet-hours/{id}'>
export type RouteSaving = Body<'PUT /api/v1/health/routes/{id}'>

export type DeadLetter = Data<'GET /api/v1/health/dead-letters'>[number]

/** Alerts and inbound events that were given up, the newest first. */
export const deadLettersQuery = () => routeQuery(healthKey, 'GET /api/v1/health/dead-letters')

export const replay = ({ id, stream }: Pick<DeadLetter, 'id' | 'stream'>) =>
  call('POST /api/v1/health/dead-letters/{id}/replay', { path: { id }, body: { stream } })

/** How deliveries ended, the newest first. */
export const deliveriesQuery = (result: Query<'GET /api/v1/health/deliveries'>['result'] | null) =>
  queryOptions({
    queryKey: [...healthKey, 'deliveries', result],
    queryFn: ({ signal }) => call('GET /api/v1/health/deliveries', { query: { result }, signal }),
  })

/** What other systems sent, the newest first; only filters that are given narrow it down. */
export const eventsQuery = (query: Query<'GET /api/v1/events'>) =>
  queryOptions({
    queryKey: [...healthKey, 'events', query],
    queryFn: ({ signal }) => call('GET /api/v1/events', { query, signal }),
  })
