import { z } from 'zod'
import { chatActions, type ChatButtonCondition } from '#proto/chat-application.ts'
import { flagSetting, parseSettings, urlSetting } from '#shared/config/setting.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import type { Message } from '../messages/message.ts'
import { truncateText, escapeMarkup as escape } from '../messages/text.ts'
import type { Channel, SendResult } from './channel.ts'
import { type ChannelResponse, sendChannelRequest } from './channel-request.ts'
import type { RenderedTemplates } from './formats/template.ts'

const settings = {
  HEALTH_ALERT_WEBHOOK_URL: urlSetting(
    'URL of the chat-compatible webhook that receives alerts; the URL is a secret.',
    {
      protocols: ['https', 'http'],
      audience: 'secret',
    },
  ),
  HEALTH_ALERT_WEBHOOK_ENABLED: flagSetting(true, 'Whether the webhook receives alerts.'),
  HEALTH_ALERT_WEBHOOK_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for the webhook.'),
} as const

/**
 * A webhook in Slack's format, which Mattermost, Rocket.Chat and Discord's `/slack` endpoint also accept. A message
 * sent twice is shown twice; a recovery is a separate message.
 */
export const webhookChannel: Channel = {
  id: 'webhook',
  words: { name: 'Webhook', doc: 'Slack, Mattermost, Rocket.Chat, Discord or any compatible receiver.' },
  settings,
  address: 'HEALTH_ALERT_WEBHOOK_URL',
  isPaging: false,
  announces: true,
  // Chat services accept this rate for a while; above it they respond with 429.
  limits: { concurrency: 4, perSecond: 5, burst: 20, groupAfter: 3 },
  targets(env) {
    const values = parseSettings(settings, env)
    const address = values.HEALTH_ALERT_WEBHOOK_URL
    if (address === undefined) return []
    return [
      {
        id: 'default',
        name: 'webhook',
        isEnabled: values.HEALTH_ALERT_WEBHOOK_ENABLED,
        minSeverity: values.HEALTH_ALERT_WEBHOOK_MIN_SEVERITY ?? null,
        send: (message, way) => {
          const body = JSON.stringify(buildChatBody(message, { address }))
          return sendChannelRequest(way, {
            url: address.href,
            headers: { 'content-type': 'application/json' },
            body,
            classify: classifyChatResponse,
          })
        },
      },
    ]
  },
}

/** Chat services show only part of a long text, and some reject it. */
const maxHeadline = 300
const maxText = 3_000
const maxFacts = 20
const maxFact = 500

interface ChatBodyOptions {
  address: URL
  /** Rendered templates, which replace the headline and the body. */
  written?: RenderedTemplates
}

/**
 * Returns the body for a chat service: the headline as notification, the rest as attachment, and buttons where
 * supported.
 */
export const buildChatBody = (message: Message, { address, written: { title, body } = {} }: ChatBodyOptions) => {
  const { headline, facts, gathered, runbook, url, tone, origin } = message
  const text = title ?? escape(truncateText(headline, maxHeadline))
  const rest = [gathered.join('\n'), runbook].filter((part) => part !== '').join('\n\n')
  return {
    text: url === null ? text : `${text} <${url}|Open>`,
    attachments: [
      {
        fallback: text,
        color: colors[tone],
        text: body ?? escape(truncateText(rest, maxText)),
        footer: origin,
        fields: (body === undefined ? facts : []).slice(0, maxFacts).map(({ label, value }) => ({
          title: escape(label),
          value: escape(truncateText(value, maxFact)),
          short: value.length <= 40,
        })),
      },
      ...buildChatButtons(message, address),
    ],
  }
}

const colors = { warning: '#d97706', critical: '#dc2626', over: '#16a34a', plain: '#2563eb' } as const

const Refusal = z.object({ ok: z.literal(false), error: z.string().optional() })

/** Error texts for a webhook that no longer exists. */
const removedWebhookPattern =
  /invalid_token|invalid_auth|no_service|no_team|channel_is_archived|channel_not_found|action_prohibited/

/** Classifies chat responses: some services report errors with status 200, or a deleted webhook with 400. */
export const classifyChatResponse = ({ status, text, body, afterMs }: ChannelResponse): SendResult | undefined => {
  const refusal = Refusal.safeParse(body)
  if (status >= 400 && status < 500 && removedWebhookPattern.test(text))
    return { kind: 'config', reason: `HTTP ${status}` }
  if (status !== 200 || !refusal.success) return undefined
  const word = refusal.data.error ?? ''
  if (/rate_?limited/.test(word)) return { kind: 'retry', reason: 'rate limited by the target', afterMs }
  const reason = 'rejected by the target'
  return removedWebhookPattern.test(word) ? { kind: 'config', reason } : { kind: 'permanent', reason }
}

/** Only Slack applications support buttons; other services would reject or drop them. */
const slackHosts = /^hooks\.slack(-gov)?\.com$/
/** Kinds with buttons. A recovery needs no action, and a digest or group concerns several conditions. */
const actionableKinds: ReadonlySet<string> = new Set(['fire', 'escalate', 'remind'])

/** Returns the buttons of an alert as an attachment; none if clicks are not handled. */
export const buildChatButtons = ({ notification, members, isInteractive }: Message, address: URL): object[] => {
  if (
    !isInteractive ||
    members.length > 0 ||
    !actionableKinds.has(notification.kind) ||
    !slackHosts.test(address.hostname)
  )
    return []
  const { episode, hostKey, ruleId } = notification
  const value = JSON.stringify({ episode, hostKey, ruleId } satisfies ChatButtonCondition)
  const button = (action_id: string, text: string, more: object) => ({
    type: 'button',
    action_id,
    text: { type: 'plain_text', text },
    value,
    ...more,
  })
  const elements = [
    button(chatActions.acknowledge, 'Acknowledge', { style: 'primary' }),
    button(chatActions.dismiss, 'Dismiss', { confirm: confirmDismissal }),
  ]
  return [{ fallback: 'Acknowledge or dismiss', blocks: [{ type: 'actions', elements }] }]
}

const confirmDismissal = {
  title: { type: 'plain_text', text: 'Dismiss this alert?' },
  text: { type: 'plain_text', text: 'No more notifications are sent until it recovers.' },
  confirm: { type: 'plain_text', text: 'Dismiss' },
  deny: { type: 'plain_text', text: 'Keep' },
}
