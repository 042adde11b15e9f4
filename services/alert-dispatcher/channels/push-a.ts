import { z } from 'zod'
import { flag, read, secret, type Setting, url } from '#shared/config/setting.ts'
import { cut, jsonBytesOf } from '../messages/text.ts'
import { type Message, bodyText } from '../messages/message.ts'
import { severityFloor } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import { type Answer, exchange, loginIn } from './channel-request.ts'

/** Where a topic is: messages as JSON go to the root of its server, for headers would take no title beyond latin-1. */
interface Topic {
  root: string
  name: string
  /** The header of a user and password that stand in the URL. */
  login: string | undefined
}

const address = url('Full URL of the ntfy topic that alerts are pushed to, such as https://ntfy.sh/alerts.', {
  protocols: ['https', 'http'],
  audience: 'secret',
})

const topic: Setting<Topic | undefined> = { ...address, parse: (given) => topicOf(address.parse(given)) }

const settings = {
  HEALTH_ALERT_PUSH_A_URL: topic,
  HEALTH_ALERT_PUSH_A_TOKEN: secret('Access token for the ntfy topic, where it asks for one.'),
  HEALTH_ALERT_PUSH_A_ENABLED: flag(true, 'Whether the ntfy topic gets alerts.'),
  HEALTH_ALERT_PUSH_A_MIN_SEVERITY: severityFloor('Least severity that the ntfy topic gets.'),
} as const

const topicOf = (given: URL | undefined): Topic | undefined => {
  if (given === undefined) return undefined
  const [, base, name] = /^(.*\/)([-\w]{1,64})\/?$/.exec(given.pathname) ?? []
  if (base === undefined || name === undefined) throw new Error('must end in the name of a topic')
  const { user, pass } = loginIn(given)
  const login = user === '' && pass === '' ? undefined : `Basic ${Buffer.from(`${user}:${pass}`).toString('base64')}`
  return { root: `${given.origin}${base}`, name, login }
}

/**
 * An ntfy topic.
 * A message that is sent twice is shown twice; a recovery is a message of lower priority.
 */
export const pushA: Channel = {
  id: 'push-a',
  words: { name: 'ntfy', doc: 'A topic of ntfy.sh, or of a server of your own.' },
  settings,
  address: 'HEALTH_ALERT_PUSH_A_URL',
  isPaging: false,
  // Its servers take 60 at once and then one every five seconds, unless they are set up otherwise.
  limits: { concurrency: 2, perSecond: 0.2, burst: 50, groupAfter: 3 },
  targets(env) {
    const given = read(settings, env)
    const { HEALTH_ALERT_PUSH_A_URL: topic, HEALTH_ALERT_PUSH_A_TOKEN: token } = given
    if (topic === undefined) return []
    const authorization = token ? `Bearer ${token}` : topic.login
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    return [
      {
        id: 'default',
        name: 'push-a',
        isEnabled: given.HEALTH_ALERT_PUSH_A_ENABLED,
        minSeverity: given.HEALTH_ALERT_PUSH_A_MIN_SEVERITY ?? null,
        send: (message, way) => {
          const body = JSON.stringify(publication(message, topic.name))
          return exchange(way, { url: topic.root, headers, body, judge })
        },
      },
    ]
  },
}

/** A message of 4,096 bytes becomes an attachment, and the whole may have twice that: all is measured as it is sent. */
const maxMessageBytes = 4_000
const maxTitleBytes = 1_000
const maxLinkLength = 2_000

const publication = (message: Message, topic: string) => {
  const { headline, severity, isOver, url, origin, notice } = message
  const look = isOver ? looks.over : notice.kind === 'test' ? looks.test : looks[severity]
  return {
    topic,
    title: cut(headline, maxTitleBytes, jsonBytesOf),
    message: cut(bodyText(message), maxMessageBytes, jsonBytesOf),
    priority: look.priority,
    // Tags that name no picture are shown as they are.
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

/** What the server means beyond its status: topics that nobody may use, and allowances that come back by the day. */
const badTopic: ReadonlySet<number> = new Set([40_009, 40_010])
const usedUp: ReadonlySet<number> = new Set([42_905, 42_908])
const usedUpAgainMs = 30 * 60_000

const judge = ({ status, body }: Answer): SendResult | undefined => {
  const code = Refusal.safeParse(body).data?.code ?? 0
  if (badTopic.has(code)) return { kind: 'config', reason: 'its topic has a name that may not be used' }
  if (!usedUp.has(code)) return undefined
  return { kind: 'retry', reason: `answered ${status}: its allowance for the day is used up`, afterMs: usedUpAgainMs }
}
