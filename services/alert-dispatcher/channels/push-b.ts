import { hash } from 'node:crypto'
import { z } from 'zod'
import { flag, optional, read, secret } from '#shared/config/setting.ts'
import type { Send } from '#shared/net/net.ts'
import { cut } from '../messages/text.ts'
import { type Message, bodyText } from '../messages/message.ts'
import { severityFloor } from '../messages/message-settings.ts'
import { type Channel, type SendResult, sendWithinMs } from './channel.ts'
import { type Answer, exchange } from './channel-request.ts'

const settings = {
  HEALTH_ALERT_PUSH_B_TOKEN: secret('Token of the Pushover application that sends alerts.'),
  HEALTH_ALERT_PUSH_B_USER: optional('Key of the Pushover user or group that gets alerts.', { audience: 'secret' }),
  HEALTH_ALERT_PUSH_B_ENABLED: flag(true, 'Whether Pushover gets alerts.'),
  HEALTH_ALERT_PUSH_B_MIN_SEVERITY: severityFloor('Least severity that Pushover gets.'),
  HEALTH_ALERT_PUSH_B_EMERGENCY: flag(
    false,
    'Whether critical alerts ring at Pushover each minute of an hour, until somebody confirms them or they recover.',
  ),
} as const

/**
 * Pushover.
 * A message that is sent twice is shown twice; a recovery is a quiet message and silences what still rings.
 */
export const pushB: Channel = {
  id: 'push-b',
  words: { name: 'Pushover', doc: 'Pushes to phones; critical alerts can repeat until they are acknowledged.' },
  settings,
  isPaging: false,
  // It asks for no more than two connections.
  limits: { concurrency: 2, perSecond: 2, burst: 10, groupAfter: 3 },
  targets(env) {
    const given = read(settings, env)
    const { HEALTH_ALERT_PUSH_B_TOKEN: token, HEALTH_ALERT_PUSH_B_USER: user } = given
    if (token === undefined || user === undefined) return []
    const account = { token, user, rings: given.HEALTH_ALERT_PUSH_B_EMERGENCY }
    return [
      {
        id: 'default',
        name: 'push-b',
        isEnabled: given.HEALTH_ALERT_PUSH_B_ENABLED,
        minSeverity: given.HEALTH_ALERT_PUSH_B_MIN_SEVERITY ?? null,
        // What rings is silenced by the name of its own episode.
        needsOwnMessage: ({ severity }) => account.rings && severity === 'critical',
        send: (message, way) => tell(way, account, message),
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

/** What rings is silenced before its end is told; where there is nothing to silence, the end is told all the same. */
const tell = async (way: Send, account: Account, message: Message): Promise<SendResult> => {
  if (account.rings && message.isOver) {
    const silenced = await post(way, `/receipts/cancel_by_tag/${tagOf(message)}.json`, { token: account.token })
    if (silenced.kind === 'retry' || silenced.kind === 'config') return silenced
  }
  return post(way, '/messages.json', pushOf(account, message))
}

const post = (way: Send, path: string, body: object): Promise<SendResult> =>
  exchange(way, {
    url: api + path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    // Two of them must not take longer than one send may.
    timeoutMs: sendWithinMs / 2,
    judge,
  })

const maxTitle = 250
const maxMessage = 1_024
const maxUrl = 512
/** It rings each minute for an hour; the service allows three. */
const ring = { priority: 2, retry: 60, expire: 3_600 }

const pushOf = ({ token, user, rings }: Account, message: Message) => {
  const { headline, url, origin, notice } = message
  const end = `\n${origin}`
  const isAlarm = message.severity === 'critical' && !message.isOver && notice.kind !== 'test'
  return {
    token,
    user,
    title: cut(headline, maxTitle),
    message: cut(bodyText(message), maxMessage - end.length) + end,
    timestamp: Math.floor(notice.atMs / 1_000),
    ...(isAlarm && rings ? { ...ring, tags: tagOf(message) } : { priority: isAlarm ? 1 : message.isOver ? -1 : 0 }),
    ...(url !== null && url.length <= maxUrl && { url, url_title: 'Open' }),
  }
}

/** Names the episode among all that the application ever sent. */
const tagOf = ({ origin, notice: { episode } }: Message): string => hash('sha256', `${origin} ${episode}`).slice(0, 32)

const Reply = z.object({ status: z.int(), token: z.string().optional(), user: z.string().optional() })

/** It wants to be left alone for five seconds after a fault of its own. */
const afterFaultMs = 5_000

const judge = ({ status, headers, body, afterMs = 0 }: Answer): SendResult | undefined => {
  const reply = Reply.safeParse(body).data
  if (status === 200 && reply?.status !== 1) return { kind: 'retry', reason: 'answered 200 without taking it' }
  if (status === 400 && (reply?.token === 'invalid' || reply?.user === 'invalid'))
    return { kind: 'config', reason: `its ${reply.token === 'invalid' ? 'application' : 'user'} is not known there` }
  if (status >= 500) return { kind: 'retry', reason: `answered ${status}`, afterMs: Math.max(afterMs, afterFaultMs) }
  if (status !== 429) return undefined
  // It says when its month is over rather than how long that is; that is by its own clock.
  const restsMs = Number(headers.get('x-limit-app-reset') ?? Number.NaN) * 1_000 - Date.parse(headers.get('date') ?? '')
  if (headers.has('retry-after') || Number.isNaN(restsMs)) return undefined
  return { kind: 'retry', reason: 'answered 429', afterMs: Math.max(0, restsMs) }
}
