import { hash } from 'node:crypto'
import { z } from 'zod'
import { flagSetting, optionalTextSetting, parseSettings, secretSetting } from '#shared/config/setting.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { truncateText } from '../messages/text.ts'
import { type Message, renderBody } from '../messages/message.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import { type Channel, type SendResult, maxSendMs } from './channel.ts'
import { type ChannelResponse, sendChannelRequest } from './channel-request.ts'

const settings = {
  HEALTH_ALERT_PUSH_B_TOKEN: secretSetting('Token of the Pushover application that sends alerts.'),
  HEALTH_ALERT_PUSH_B_USER: optionalTextSetting('Key of the Pushover user or group that receives alerts.', {
    audience: 'secret',
  }),
  HEALTH_ALERT_PUSH_B_ENABLED: flagSetting(true, 'Whether Pushover receives alerts.'),
  HEALTH_ALERT_PUSH_B_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for Pushover.'),
  HEALTH_ALERT_PUSH_B_EMERGENCY: flagSetting(
    false,
    'Whether critical alerts use the emergency priority of Pushover: repeated every minute for up to an hour, until acknowledged or recovered.',
  ),
} as const

/** Pushover. A message sent twice is shown twice; a recovery is a quiet message and stops a repeating alert. */
export const pushoverChannel: Channel = {
  id: 'push-b',
  words: { name: 'Pushover', doc: 'Push notifications to phones; critical alerts can repeat until acknowledged.' },
  settings,
  isPaging: false,
  // Pushover allows two concurrent connections.
  limits: { concurrency: 2, perSecond: 2, burst: 10, groupAfter: 3 },
  targets(env) {
    const values = parseSettings(settings, env)
    const { HEALTH_ALERT_PUSH_B_TOKEN: token, HEALTH_ALERT_PUSH_B_USER: user } = values
    if (token === undefined || user === undefined) return []
    const account = { token, user, rings: values.HEALTH_ALERT_PUSH_B_EMERGENCY }
    return [
      {
        id: 'default',
        name: 'push-b',
        isEnabled: values.HEALTH_ALERT_PUSH_B_ENABLED,
        minSeverity: values.HEALTH_ALERT_PUSH_B_MIN_SEVERITY ?? null,
        // A repeating alert is cancelled by the tag of its episode, so it cannot share a message with other episodes.
        needsOwnMessage: ({ severity }) => account.rings && severity === 'critical',
        send: (message, way) => sendAlert(way, account, message),
      },
    ]
  },
}

interface Account {
  token: string
  user: string
  rings: boolean
}

const api = 'https://api.pushover.net/1'

/** Cancels a repeating alert before its recovery is sent; the recovery is sent even if there is nothing to cancel. */
const sendAlert = async (way: RequestSender, account: Account, message: Message): Promise<SendResult> => {
  if (account.rings && message.isOver) {
    const cancelled = await postJson(way, `/receipts/cancel_by_tag/${buildTag(message)}.json`, { token: account.token })
    if (cancelled.kind === 'retry' || cancelled.kind === 'config') return cancelled
  }
  return postJson(way, '/messages.json', buildPush(account, message))
}

const postJson = (way: RequestSender, path: string, body: object): Promise<SendResult> =>
  sendChannelRequest(way, {
    url: api + path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    // A send may need two requests, so each gets half of its time.
    timeoutMs: maxSendMs / 2,
    classify,
  })

const maxTitle = 250
const maxMessage = 1_024
const maxUrl = 512
/** Repeats every minute for one hour; Pushover allows three hours. */
const emergencyOptions = { priority: 2, retry: 60, expire: 3_600 }

const buildPush = ({ token, user, rings }: Account, message: Message) => {
  const { headline, url, origin, notification } = message
  const end = `\n${origin}`
  const isAlarm = message.severity === 'critical' && !message.isOver && notification.kind !== 'test'
  return {
    token,
    user,
    title: truncateText(headline, maxTitle),
    message: truncateText(renderBody(message), maxMessage - end.length) + end,
    timestamp: Math.floor(notification.atMs / 1_000),
    ...(isAlarm && rings
      ? { ...emergencyOptions, tags: buildTag(message) }
      : { priority: isAlarm ? 1 : message.isOver ? -1 : 0 }),
    ...(url !== null && url.length <= maxUrl && { url, url_title: 'Open' }),
  }
}

/** Returns a tag that identifies the episode within the application. */
const buildTag = ({ origin, notification: { episode } }: Message): string =>
  hash('sha256', `${origin} ${episode}`).slice(0, 32)

const Reply = z.object({ status: z.int(), token: z.string().optional(), user: z.string().optional() })

/** Pushover requires clients to wait at least five seconds after a server error. */
const serverErrorDelayMs = 5_000

const classify = ({ status, headers, body, afterMs = 0 }: ChannelResponse): SendResult | undefined => {
  const reply = Reply.safeParse(body).data
  if (status === 200 && reply?.status !== 1) return { kind: 'retry', reason: 'rejected the message with HTTP 200' }
  if (status === 400 && (reply?.token === 'invalid' || reply?.user === 'invalid'))
    return {
      kind: 'config',
      reason: `Pushover rejected its ${reply.token === 'invalid' ? 'application token' : 'user key'}`,
    }
  if (status >= 500) return { kind: 'retry', reason: `HTTP ${status}`, afterMs: Math.max(afterMs, serverErrorDelayMs) }
  if (status !== 429) return undefined
  // The reset time of the monthly quota refers to the clock of Pushover, so it is compared with the `date` header.
  const restsMs = Number(headers.get('x-limit-app-reset') ?? Number.NaN) * 1_000 - Date.parse(headers.get('date') ?? '')
  if (headers.has('retry-after') || Number.isNaN(restsMs)) return undefined
  return { kind: 'retry', reason: 'HTTP 429', afterMs: Math.max(0, restsMs) }
}
