import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type {
  AlertChannelRequest,
  AlertConfigAnswer,
  AlertConfigRequest,
  AlertDigestAnswer,
  AlertDigestRequest,
  CheckAlertsAnswer,
  CheckAlertsRequest,
  CustomRuleRequest,
  CustomRulesAnswer,
  CustomRuleTestAnswer,
  MaintenanceWindowRequest,
  MaintenanceWindowsAnswer,
  QuietHoursAnswer,
  QuietHoursRequest,
  RouteRequest,
  RoutesAnswer,
  SettledIdAnswer,
} from '#proto/http/alerts.ts'
import type { ChannelTestAnswer, WebhookTargetRequest, WebhookTargetsAnswer } from '#proto/http/channels.ts'
import type { ChatApplicationAnswer, ChatInstallationAnswer } from '#proto/http/chat-application.ts'
import type { DeadLettersAnswer, DeliveriesAnswer, ReplayAnswer, TargetsAnswer } from '#proto/http/deliveries.ts'
import type { EventsAnswer } from '#proto/http/events.ts'
import { alertConfigQuery, healthKey } from './health.ts'
import { requestJson } from './request.ts'

const base = '/api/v1/health'

/** Whatever operators settle of alerts renews every query of health, as the service judges by it at once. */
export const settledKey = healthKey

export type ChannelSettled = z.infer<typeof AlertConfigAnswer>['data']['channels'][number]
export type ChannelSaving = z.input<typeof AlertChannelRequest>
export type AlertTarget = z.infer<typeof TargetsAnswer>['data'][number]
export type WebhookTarget = z.infer<typeof WebhookTargetsAnswer>['data'][number]
export type Tested = z.infer<typeof ChannelTestAnswer>['data'][number]

/** What is settled of channels; asked anew when the page is opened, unlike where it only tells whether anybody is told. */
export const channelsQuery = () => ({ ...alertConfigQuery(), staleTime: 0 })

/** Where alerts go now, and how each of these places fares. */
export const targetsQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'targets'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof TargetsAnswer>>(`${base}/targets`, { signal }),
  })

const channelPath = (channel: string): string => `${base}/alert-config/channels/${encodeURIComponent(channel)}`

export const saveChannel = (channel: string, body: ChannelSaving) =>
  requestJson<z.infer<typeof AlertConfigAnswer>>(channelPath(channel), { method: 'PUT', body })

/** Leaves a channel to files and variables again. */
export const forgetChannel = (channel: string) =>
  requestJson<z.infer<typeof AlertConfigAnswer>>(channelPath(channel), { method: 'DELETE' })

/** Sends a test message to one target of a channel, or to all of them. */
export const testChannel = async (channel: string, target?: string): Promise<Tested[]> =>
  (
    await requestJson<z.infer<typeof ChannelTestAnswer>>(`${base}/channels/${encodeURIComponent(channel)}/test`, {
      body: { ...(target !== undefined && { target }) },
    })
  ).data

/** Further webhooks. */
export const webhookTargetsQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'webhook-targets'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof WebhookTargetsAnswer>>(`${base}/webhook-targets`, { signal }),
  })

export type WebhookSaving = z.input<typeof WebhookTargetRequest>

const chatApplication = `${base}/chat-application`

/** The chats that the chat application is installed for. */
export const chatApplicationQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'chat-application'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof ChatApplicationAnswer>>(chatApplication, { signal }),
  })

/** Leads to the page of the chat service where a chat is chosen. */
export const installChatPage = `${chatApplication}/install`

export const removeChat = (id: string) =>
  requestJson<z.infer<typeof ChatInstallationAnswer>>(`${chatApplication}/${id}`, { method: 'DELETE' })

/** Kinds of things of which operators settle several. */
export type SettledKind = 'webhook-targets' | 'custom-rules' | 'maintenance-windows' | 'quiet-hours' | 'routes'
type Settled = z.infer<typeof SettledIdAnswer>

const settledPath = (kind: SettledKind, id: string): string => `${base}/${kind}/${encodeURIComponent(id)}`

export const settle = (kind: SettledKind, body: object) => requestJson<Settled>(`${base}/${kind}`, { body })

/** Puts something else in the place of what was settled. */
export const resettle = (kind: SettledKind, id: string, body: object) =>
  requestJson<Settled>(settledPath(kind, id), { method: 'PUT', body })

export const unsettle = (kind: SettledKind, id: string) =>
  requestJson<Settled>(settledPath(kind, id), { method: 'DELETE' })

export type GeneralSettings = z.infer<typeof AlertConfigAnswer>['data']['general']
export type CustomRuleSaving = z.input<typeof CustomRuleRequest>
export type RuleSettled = z.infer<typeof CheckAlertsAnswer>['data'][number]
export type RuleSaving = z.input<typeof CheckAlertsRequest>
export type CustomRule = z.infer<typeof CustomRulesAnswer>['data'][number]
/** Rules about which something is settled. */
export const settledRulesQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'settled-rules'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof CheckAlertsAnswer>>(`${base}/check-alerts`, { signal }),
  })

const rulePath = (ruleId: string): string => `${base}/check-alerts/${encodeURIComponent(ruleId)}`

export const saveRule = (ruleId: string, body: RuleSaving) =>
  requestJson<z.infer<typeof CheckAlertsAnswer>>(rulePath(ruleId), { method: 'PUT', body })

/** Leaves a rule to files, variables and its own definition again. */
export const forgetRule = (ruleId: string) =>
  requestJson<z.infer<typeof CheckAlertsAnswer>>(rulePath(ruleId), { method: 'DELETE' })

export const saveGeneral = (body: z.input<typeof AlertConfigRequest>) =>
  requestJson<z.infer<typeof AlertConfigAnswer>>(`${base}/alert-config`, { method: 'PUT', body })

export const saveDigest = (body: z.input<typeof AlertDigestRequest>) =>
  requestJson<z.infer<typeof AlertDigestAnswer>>(`${base}/alert-digest`, { method: 'PUT', body })

/** Rules that operators put on metrics, and the metrics there are. */
export const customRulesQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'custom-rules'],
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof CustomRulesAnswer>>(`${base}/custom-rules?catalog=1`, { signal }),
  })

/** Measures once what a rule would judge. */
export const testRule = async (hostId: number, rule: z.input<typeof CustomRuleRequest>) =>
  (await requestJson<z.infer<typeof CustomRuleTestAnswer>>(`${base}/custom-rules/test`, { body: { hostId, ...rule } }))
    .data

const settledQuery = <Answer>(kind: SettledKind) =>
  queryOptions({
    queryKey: [...healthKey, kind],
    queryFn: ({ signal }) => requestJson<Answer>(`${base}/${kind}`, { signal }),
  })

export type MaintenanceWindow = z.infer<typeof MaintenanceWindowsAnswer>['data'][number]
export type QuietHours = z.infer<typeof QuietHoursAnswer>['data'][number]
export type AlertRoute = z.infer<typeof RoutesAnswer>['data'][number]

/** Times in which nobody is told anything. */
export const maintenanceQuery = () => settledQuery<z.infer<typeof MaintenanceWindowsAnswer>>('maintenance-windows')
/** Hours of the week in which people are told of less. */
export const quietHoursQuery = () => settledQuery<z.infer<typeof QuietHoursAnswer>>('quiet-hours')
/** Who is told of what. */
export const routesQuery = () => settledQuery<z.infer<typeof RoutesAnswer>>('routes')

export type MaintenanceSaving = z.input<typeof MaintenanceWindowRequest>
export type QuietHoursSaving = z.input<typeof QuietHoursRequest>
export type RouteSaving = z.input<typeof RouteRequest>

export type DeadLetter = z.infer<typeof DeadLettersAnswer>['data'][number]

/** Alerts and inbound events that were given up, the newest first. */
export const deadLettersQuery = () =>
  queryOptions({
    queryKey: [...healthKey, 'dead-letters'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof DeadLettersAnswer>>(`${base}/dead-letters`, { signal }),
  })

export const replay = ({ id, stream }: Pick<DeadLetter, 'id' | 'stream'>) =>
  requestJson<z.infer<typeof ReplayAnswer>>(`${base}/dead-letters/${encodeURIComponent(id)}/replay`, {
    body: { stream },
  })

/** How deliveries ended, the newest first. */
export const deliveriesQuery = (result: string | null) =>
  queryOptions({
    queryKey: [...healthKey, 'deliveries', result],
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof DeliveriesAnswer>>(
        `${base}/deliveries?${new URLSearchParams(result ? { result } : {})}`,
        { signal },
      ),
  })

/** What other systems sent, the newest first; only filters that are given narrow it down. */
export const eventsQuery = (filters: Readonly<Record<string, string>>) =>
  queryOptions({
    queryKey: [...healthKey, 'events', filters],
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof EventsAnswer>>(`/api/v1/events?${new URLSearchParams(filters)}`, { signal }),
  })
