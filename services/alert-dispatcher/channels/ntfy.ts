import { z } from 'zod'
import { flagSetting, parseSettings, secretSetting, type Setting, urlSetting } from '#shared/config/setting.ts'
import { truncateText, countJsonBytes } from '../messages/text.ts'
import { type Message, renderBody } from '../messages/message.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import { type ChannelResponse, sendChannelRequest, parseUrlCredentials } from './channel-request.ts'

/** An ntfy topic. Messages are sent as JSON to the root of the server, because header titles only support Latin-1. */
interface Topic {
  root: string
  name: string
  /** Authorization header from user and password in the URL. */
  login: string | undefined
}

const addressSetting = urlSetting(
  'Full URL of the ntfy topic that alerts are pushed to, such as https://ntfy.sh/alerts.',
  {
    protocols: ['https', 'http'],
    audience: 'secret',
  },
)

const topicSetting: Setting<Topic | undefined> = {
  ...addressSetting,
  parse: (values) => parseTopic(addressSetting.parse(values)),
}

const settings = {
  HEALTH_ALERT_PUSH_A_URL: topicSetting,
  HEALTH_ALERT_PUSH_A_TOKEN: secretSetting('Access token for the ntfy topic, if it requires one.'),
  HEALTH_ALERT_PUSH_A_ENABLED: flagSetting(true, 'Whether the ntfy topic receives alerts.'),
  HEALTH_ALERT_PUSH_A_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for ntfy.'),
} as const

const parseTopic = (values: URL | undefined): Topic | undefined => {
  if (values === undefined) return undefined
  const [, base, name] = /^(.*\/)([-\w]{1,64})\/?$/.exec(values.pathname) ?? []
  if (base === undefined || name === undefined) throw new Error('must end with a topic name')
  const { user, pass } = parseUrlCredentials(values)
  const login = user === '' && pass === '' ? undefined : `Basic ${Buffer.from(`${user}:${pass}`).toString('base64')}`
  return { root: `${values.origin}${base}`, name, login }
}

/** An ntfy topic. A message sent twice is shown twice; a recovery is a message with lower priority. */
export const ntfyChannel: Channel = {
  id: 'push-a',
  words: { name: 'ntfy', doc: 'A topic on ntfy.sh or on your own server.' },
  settings,
  address: 'HEALTH_ALERT_PUSH_A_URL',
  isPaging: false,
  // By default, ntfy allows 60 messages at once and then one every five seconds.
  limits: { concurrency: 2, perSecond: 0.2, burst: 50, groupAfter: 3 },
  targets(env) {
    const values = parseSettings(settings, env)
    const { HEALTH_ALERT_PUSH_A_URL: topic, HEALTH_ALERT_PUSH_A_TOKEN: token } = values
    if (topic === undefined) return []
    const authorization = token ? `Bearer ${token}` : topic.login
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    return [
      {
        id: 'default',
        name: 'push-a',
        isEnabled: values.HEALTH_ALERT_PUSH_A_ENABLED,
        minSeverity: values.HEALTH_ALERT_PUSH_A_MIN_SEVERITY ?? null,
        send: (message, way) => {
          const body = JSON.stringify(buildPublication(message, topic.name))
          return sendChannelRequest(way, { url: topic.root, headers, body, classify })
        },
      },
    ]
  },
}

/** Messages above 4,096 bytes become attachments; the size is measured as sent. */
const maxMessageBytes = 4_000
const maxTitleBytes = 1_000
const maxLinkLength = 2_000

const buildPublication = (message: Message, topic: string) => {
  const { headline, severity, isOver, url, origin, notification } = message
  const look = isOver ? looks.over : notification.kind === 'test' ? looks.test : looks[severity]
  return {
    topic,
    title: truncateText(headline, maxTitleBytes, countJsonBytes),
    message: truncateText(renderBody(message), maxMessageBytes, countJsonBytes),
    priority: look.priority,
    // Tags that are not emoji names are shown as text.
    tags: [look.picture, origin],
    ...(url !== null && url.length <= maxLinkLength && { click: url }),
  }
}

const looks = {
  critical: { priority: 5, picture: 'rotating_light' },
  warning: { priority: 4, picture: 'warning' },
  over: { priority: 3, picture: 'white_check_mark' },
  test: { priority: 3, picture: 'bell' },
} as const

const Refusal = z.object({ code: z.int() })

/** Error codes of ntfy for invalid topics and used-up daily quotas. */
const invalidTopicCodes: ReadonlySet<number> = new Set([40_009, 40_010])
const quotaErrorCodes: ReadonlySet<number> = new Set([42_905, 42_908])
const quotaRetryMs = 30 * 60_000

const classify = ({ status, body }: ChannelResponse): SendResult | undefined => {
  const code = Refusal.safeParse(body).data?.code ?? 0
  if (invalidTopicCodes.has(code)) return { kind: 'config', reason: 'invalid topic name' }
  if (!quotaErrorCodes.has(code)) return undefined
  return { kind: 'retry', reason: `HTTP ${status}: the daily quota is used up`, afterMs: quotaRetryMs }
}
