import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import { chatActions, type ChatInstallation } from '#proto/chat-application.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import type { ValidRequest } from './valid-requests.ts'
import { decryptTransitSecret } from './transit-key.ts'

const Address = z.object({ url: z.string() })
const Draft = z.object({ settings: z.record(z.string(), z.string()) })

/** One webhook that accepts tests, and a chat that is not configured. */
export const fakeChannels = {
  testChannel: async ({ channel, target = 'webhook', encrypted }) => {
    if (channel === 'chat-a')
      throw new ServiceError('conflict', 'cannot test channel "chat-a": required settings are missing')
    if (channel !== 'webhook') throw createNotFoundError('channel', channel, ['webhook', 'chat-a'], 'channel')
    if (encrypted !== undefined) {
      const { settings } = Draft.parse(await decryptTransitSecret(encrypted))
      return [{ name: `draft of ${Object.keys(settings).join(', ')}`, result: 'ok', reason: null }]
    }
    const response = { status: 404, tookMs: 12, text: 'no hook' }
    return [{ name: target, result: 'config', reason: 'HTTP 404', response }]
  },
  previewTarget: async ({ templates, encrypted, url }) => {
    if (url !== undefined) throw new ServiceError('internal', 'a secret in clear')
    const body = { title: templates?.title ?? 'Disk full' }
    if (encrypted === undefined) return { method: 'POST', body }
    return { method: 'POST', body: { ...body, of: Address.parse(await decryptTransitSecret(encrypted)).url } }
  },
} satisfies Partial<ServiceHandlers<typeof alerts>>

const path = '/api/v1/health/channels'
const targets = '/api/v1/health/webhook-targets'
const target = { name: 'team', url: 'https://hooks.example/x', headers: { 'X-Team': 'y' } }

/** A valid request for every route of notification channels. */
export const channelRequests: Readonly<Record<string, ValidRequest>> = {
  [`POST ${path}/{channel}/test`]: { url: `${path}/webhook/test`, body: {} },
  [`GET ${targets}`]: { url: targets },
  [`POST ${targets}`]: { url: targets, body: target },
  [`PUT ${targets}/{id}`]: { url: `${targets}/cwt-1`, body: { name: 'team' } },
  [`DELETE ${targets}/{id}`]: { url: `${targets}/cwt-1` },
  [`POST ${targets}/preview`]: { url: `${targets}/preview`, body: { format: 'slack' } },
}

const installation: ChatInstallation = {
  id: 'T01-C01',
  workspace: 'Acme',
  chat: '#alerts',
  installedBy: 'ada',
  installedAtMs: 1_790_000_000_000,
}

/** A chat application that is installed in one channel of one Slack workspace. */
export const fakeChatApplication = {
  chatApplication: async () => ({ interactive: true, missing: [], installations: [installation] }),
  chatApplicationPage: async ({ state }) => ({ location: `https://slack.com/oauth/v2/authorize?state=${state}` }),
  installChatApplication: async ({ code }) => {
    if (code === 'good') return installation
    throw new ServiceError('invalid', 'Slack rejected the code; start the installation again')
  },
  removeChatApplication: async ({ id }) => {
    if (id === installation.id) return installation
    throw createNotFoundError('Slack installation', id, [installation.id], 'id')
  },
} satisfies Partial<ServiceHandlers<typeof alerts>>

/** Returns a click as Slack sends it. */
export const createClick = (value: object, more: object = {}): object => ({
  type: 'block_actions',
  team: { id: 'T01', domain: 'acme' },
  user: { id: 'U07', username: 'grace', team_id: 'T01' },
  api_app_id: 'A01',
  actions: [{ type: 'button', action_id: chatActions.acknowledge, block_id: 'x', value: JSON.stringify(value) }],
  response_url: 'https://hooks.slack.com/actions/T01/1/secret-of-the-answer',
  ...more,
})

interface SignatureOptions {
  secret: string
  atMs?: number
}

/** Returns a form with this payload and the signature of Slack. */
export const createSignedClick = (
  payload: object | string,
  { secret, atMs = Date.now() }: SignatureOptions,
): ValidRequest => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const raw = new URLSearchParams({ payload: text }).toString()
  const at = String(Math.floor(atMs / 1_000))
  return {
    url: '/api/webhooks/chat-application',
    raw,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${raw}`).digest('hex')}`,
    },
  }
}

const chatPath = '/api/v1/health/chat-application'

/** Returns a valid request for every route of the chat application. */
export const createChatApplicationRequests = (secret: string): Readonly<Record<string, ValidRequest>> => ({
  [`GET ${chatPath}`]: { url: chatPath },
  [`GET ${chatPath}/install`]: { url: `${chatPath}/install` },
  [`GET ${chatPath}/callback`]: { url: `${chatPath}/callback?state=s&code=good`, cookie: 'watchhouse_chat=s' },
  [`DELETE ${chatPath}/{id}`]: { url: `${chatPath}/${installation.id}` },
  'POST /api/webhooks/chat-application': createSignedClick(
    createClick({ episode: 'inbound-1', hostKey: null, ruleId: 'event:DiskFull' }),
    { secret },
  ),
})

/** A PagerDuty account with one service. The search `no-token` fails as if the API key were not set. */
export const fakePagingServices = {
  pagingServices: async ({ search = 'data' }) => {
    if (search === 'no-token') throw new ServiceError('conflict', 'HEALTH_ALERT_PAGING_A_API_KEY is not set')
    const service = { id: 'PAB', name: search, description: null, status: 'active', url: 'https://x.pagerduty.com/PAB' }
    return { services: [service], more: false }
  },
} satisfies Partial<ServiceHandlers<typeof alerts>>

const servicesPath = '/api/v1/health/channels/paging-a/services'

/** A valid request for the route of paging services. */
export const pagingServiceRequests: Readonly<Record<string, ValidRequest>> = {
  [`GET ${servicesPath}`]: { url: servicesPath },
}
