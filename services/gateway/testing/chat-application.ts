import { createHmac } from 'node:crypto'
import type { alerts } from '#proto/alerts.ts'
import { chatActions, type ChatInstallation, type chatApplicationMethods } from '#proto/chat-application.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { noSuch } from '#shared/no-such.ts'
import type { GoodRequest } from './auth-requests.ts'

const installation: ChatInstallation = {
  id: 'T01-C01',
  workspace: 'Acme',
  chat: '#alerts',
  installedBy: 'ada',
  installedAtMs: 1_790_000_000_000,
}

/** One chat of one workspace. */
export const fakeChatApplication: Pick<Handlers<typeof alerts>, keyof typeof chatApplicationMethods> = {
  chatApplication: async () => ({ interactive: true, missing: [], installations: [installation] }),
  chatApplicationPage: async ({ state }) => ({ location: `https://slack.com/oauth/v2/authorize?state=${state}` }),
  installChatApplication: async ({ code }) => {
    if (code === 'good') return installation
    throw new ServiceError('invalid', 'the chat service does not take this code; begin the installation again')
  },
  removeChatApplication: async ({ id }) => {
    if (id === installation.id) return installation
    throw noSuch('installation of the chat application', id, [installation.id], 'id')
  },
}

/** A click as Slack sends it. */
export const clickOn = (value: object, more: object = {}): object => ({
  type: 'block_actions',
  team: { id: 'T01', domain: 'acme' },
  user: { id: 'U07', username: 'grace', team_id: 'T01' },
  api_app_id: 'A01',
  actions: [{ type: 'button', action_id: chatActions.acknowledge, block_id: 'x', value: JSON.stringify(value) }],
  response_url: 'https://hooks.slack.com/actions/T01/1/secret-of-the-answer',
  ...more,
})

interface Signing {
  secret: string
  atMs?: number
}

/** A form with this payload, signed as Slack signs. */
export const signedClick = (payload: object | string, { secret, atMs = Date.now() }: Signing): GoodRequest => {
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

const path = '/api/v1/health/chat-application'

/** A good request of every route about the chat application. */
export const chatApplicationRequests = (secret: string): Readonly<Record<string, GoodRequest>> => ({
  [`GET ${path}`]: { url: path },
  [`GET ${path}/install`]: { url: `${path}/install` },
  [`GET ${path}/callback`]: { url: `${path}/callback?state=s&code=good`, cookie: 'watchhouse_chat=s' },
  [`DELETE ${path}/{id}`]: { url: `${path}/${installation.id}` },
  'POST /api/webhooks/chat-application': signedClick(
    clickOn({ episode: 'inbound-1', hostKey: null, ruleId: 'event:DiskFull' }),
    { secret },
  ),
})
