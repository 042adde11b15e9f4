import { z } from 'zod'
import { chatActions, type ChatSubject } from '#proto/chat-application.ts'
import { flag, read, url } from '#shared/config/setting.ts'
import { severityFloor } from '../messages/message-settings.ts'
import type { Message } from '../messages/message.ts'
import { cut, escapeAngles as escape } from '../messages/text.ts'
import type { Channel, SendResult } from './channel.ts'
import { type Answer, exchange } from './channel-request.ts'
import type { Written } from './formats/template.ts'

const settings = {
  HEALTH_ALERT_WEBHOOK_URL: url('Chat-compatible webhook that alerts are posted to; the address is a secret.', {
    protocols: ['https', 'http'],
    audience: 'secret',
  }),
  HEALTH_ALERT_WEBHOOK_ENABLED: flag(true, 'Whether the webhook gets alerts.'),
  HEALTH_ALERT_WEBHOOK_MIN_SEVERITY: severityFloor('Least severity that the webhook gets.'),
} as const

/**
 * The shape that Slack began and Mattermost, Rocket.Chat and Discord's `/slack` take too.
 * A message that is sent twice is shown twice; a recovery is a message.
 */
export const webhook: Channel = {
  id: 'webhook',
  words: { name: 'Webhook', doc: 'Slack, Mattermost, Rocket.Chat, Discord, or whatever else takes their messages.' },
  settings,
  address: 'HEALTH_ALERT_WEBHOOK_URL',
  isPaging: false,
  announces: true,
  // What such services bear for a while; beyond it they answer 429.
  limits: { concurrency: 4, perSecond: 5, burst: 20, groupAfter: 3 },
  targets(env) {
    const given = read(settings, env)
    const address = given.HEALTH_ALERT_WEBHOOK_URL
    if (address === undefined) return []
    return [
      {
        id: 'default',
        name: 'webhook',
        isEnabled: given.HEALTH_ALERT_WEBHOOK_ENABLED,
        minSeverity: given.HEALTH_ALERT_WEBHOOK_MIN_SEVERITY ?? null,
        send: (message, way) => {
          const body = JSON.stringify(chatBody(message, { address }))
          return exchange(way, {
            url: address.href,
            headers: { 'content-type': 'application/json' },
            body,
            judge: judgeChat,
          })
        },
      },
    ]
  },
}

/** Chat services show less, and some refuse more. */
const maxHeadline = 300
const maxText = 3_000
const maxFacts = 20
const maxFact = 500

interface Addressed {
  address: URL
  /** What templates say in place of the headline and the rest. */
  written?: Written
}

/** What a chat service is posted: the headline for its notification, the rest as an attachment, and where it takes them buttons. */
export const chatBody = (message: Message, { address, written: { title, body } = {} }: Addressed) => {
  const { headline, facts, gathered, runbook, url, tone, origin } = message
  const text = title ?? escape(cut(headline, maxHeadline))
  const rest = [gathered.join('\n'), runbook].filter((part) => part !== '').join('\n\n')
  return {
    text: url === null ? text : `${text} <${url}|Open>`,
    attachments: [
      {
        fallback: text,
        color: colors[tone],
        text: body ?? escape(cut(rest, maxText)),
        footer: origin,
        fields: (body === undefined ? facts : []).slice(0, maxFacts).map(({ label, value }) => ({
          title: escape(label),
          value: escape(cut(value, maxFact)),
          short: value.length <= 40,
        })),
      },
      ...chatButtons(message, address),
    ],
  }
}

const colors = { warning: '#d97706', critical: '#dc2626', over: '#16a34a', plain: '#2563eb' } as const

const Refusal = z.object({ ok: z.literal(false), error: z.string().optional() })

/** What such services say when the address is one that nobody uses any more. */
const gone = /invalid_token|invalid_auth|no_service|no_team|channel_is_archived|channel_not_found|action_prohibited/

/** Some answer 200 and say within that it was nothing; others say with 400 that the address is dead. */
export const judgeChat = ({ status, text, body, afterMs }: Answer): SendResult | undefined => {
  const refusal = Refusal.safeParse(body)
  if (status >= 400 && status < 500 && gone.test(text)) return { kind: 'config', reason: `answered ${status}` }
  if (status !== 200 || !refusal.success) return undefined
  const word = refusal.data.error ?? ''
  if (/rate_?limited/.test(word)) return { kind: 'retry', reason: 'asked to be sent less', afterMs }
  const reason = 'answered that it did not take it'
  return gone.test(word) ? { kind: 'config', reason } : { kind: 'permanent', reason }
}

/** Only Slack's own applications have buttons; what else takes its shape would refuse or drop them. */
const slackHosts = /^hooks\.slack(-gov)?\.com$/
/** A recovery needs no answer, and a digest or a group is about more than one condition. */
const answerable: ReadonlySet<string> = new Set(['fire', 'escalate', 'remind'])

/** The buttons under an alert, as one more attachment; none where nobody would hear of a click. */
export const chatButtons = ({ notice, members, isInteractive }: Message, address: URL): object[] => {
  if (!isInteractive || members.length > 0 || !answerable.has(notice.kind) || !slackHosts.test(address.hostname))
    return []
  const { episode, hostKey, ruleId } = notice
  const value = JSON.stringify({ episode, hostKey, ruleId } satisfies ChatSubject)
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
  text: { type: 'plain_text', text: 'Nobody is told of it any more until it recovers.' },
  confirm: { type: 'plain_text', text: 'Dismiss' },
  deny: { type: 'plain_text', text: 'Keep' },
}
