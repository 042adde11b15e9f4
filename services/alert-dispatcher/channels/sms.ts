import { hash } from 'node:crypto'
import { z } from 'zod'
import { flag, read, secret } from '#shared/config/setting.ts'
import type { Send } from '#shared/net/net.ts'
import { severityFloor } from '../messages/message-settings.ts'
import type { Message } from '../messages/message.ts'
import { type SizeOf, cut } from '../messages/text.ts'
import type { Channel, SendResult } from './channel.ts'
import { type Answer, exchange } from './channel-request.ts'
import { recipients, shaped } from './setting-shapes.ts'

const phoneNumber = /^\+[1-9]\d{6,14}$/

const numbers = recipients({
  doc: 'Numbers that get alerts by SMS, one message for each.',
  are: 'E.164 numbers such as +14155550123',
  most: 20,
  readOne: (text) => (phoneNumber.test(text) ? text : undefined),
})

const settings = {
  HEALTH_ALERT_SMS_ACCOUNT_SID: shaped(/^AC[0-9a-fA-F]{32}$/, 'must be AC and 32 hexadecimal digits', {
    doc: 'SID of the Twilio account that sends SMS.',
  }),
  HEALTH_ALERT_SMS_AUTH_TOKEN: secret('Token of the Twilio account that sends SMS.'),
  HEALTH_ALERT_SMS_FROM: shaped(
    /^(\+[1-9]\d{6,14}|\d{4,8}|MG[0-9a-fA-F]{32}|(?=.*[A-Za-z])[A-Za-z0-9 +_&-]{1,11})$/,
    'must be an E.164 number such as +14155550123, a short code, a sender name or the SID of a messaging service',
    { doc: 'Who SMS come from.' },
  ),
  HEALTH_ALERT_SMS_TO: numbers.strict,
  HEALTH_ALERT_SMS_ENABLED: flag(true, 'Whether alerts go out by SMS.'),
  HEALTH_ALERT_SMS_MIN_SEVERITY: severityFloor('Least severity that goes out by SMS.', 'critical'),
} as const

const readSettings = { ...settings, HEALTH_ALERT_SMS_TO: numbers.sound }

/**
 * SMS by Twilio: each number is a target of its own, so that one that is refused keeps nothing from the others.
 * A message that is sent twice is shown twice; a recovery is a message.
 */
export const sms: Channel = {
  id: 'sms',
  words: { name: 'SMS', doc: 'Through Twilio; each number gets its own message.' },
  settings,
  isPaging: true,
  // A long code sends a segment a second; what is handed in faster waits there.
  limits: { concurrency: 2, perSecond: 1, burst: 5, groupAfter: 3 },
  targets(env) {
    const given = read(readSettings, env)
    const { HEALTH_ALERT_SMS_ACCOUNT_SID: sid, HEALTH_ALERT_SMS_FROM: from } = given
    const token = given.HEALTH_ALERT_SMS_AUTH_TOKEN?.trim()
    if (sid === undefined || !token || from === undefined) return []
    return [...new Set(given.HEALTH_ALERT_SMS_TO)].map((to) => ({
      id: hash('sha256', to).slice(0, 32),
      // Whose number it is concerns nobody who reads where alerts go.
      name: `sms to …${to.slice(-2)}`,
      isEnabled: given.HEALTH_ALERT_SMS_ENABLED,
      minSeverity: given.HEALTH_ALERT_SMS_MIN_SEVERITY ?? null,
      send: (message, way) => tell(way, { sid, token, from, to }, message),
    }))
  },
}

interface Line {
  sid: string
  token: string
  from: string
  to: string
}

const api = 'https://api.twilio.com/2010-04-01'
/** A page that would be hours late is not wanted any more. */
const validitySeconds = 3_600

const tell = (way: Send, { sid, token, from, to }: Line, message: Message): Promise<SendResult> =>
  exchange(way, {
    url: `${api}/Accounts/${sid}/Messages.json`,
    headers: {
      authorization: `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({
      To: to,
      [from.startsWith('MG') && from.length === 34 ? 'MessagingServiceSid' : 'From']: from,
      Body: smsText(message),
      ValidityPeriod: String(validitySeconds),
    }).toString(),
    judge,
  })

const Refusal = z.object({ code: z.int() })

/** The account or the sender cannot be used as it is set up. */
const setUp: ReadonlySet<number> = new Set([20003, 20005, 20008, 21408, 21603, 21606, 21612, 21659, 21660])
/** Too much for now: a limit, or a queue that is full. */
const passing: ReadonlySet<number> = new Set([20429, 21611, 30001])

/** Its codes say more than the statuses they come with. */
const judge = ({ status, body, afterMs }: Answer): SendResult | undefined => {
  const code = Refusal.safeParse(body).data?.code
  if (code === undefined || status < 400) return undefined
  const reason = `answered ${status} (${code})`
  if (passing.has(code)) return { kind: 'retry', reason, afterMs }
  return setUp.has(code) ? { kind: 'config', reason } : undefined
}

/** The alphabet of SMS (3GPP TS 23.038), and the characters that take two places in it. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extended = new Set('^{}\\[~]|€')

/** Two parts of a message; each further one costs as much again. */
const maxInAlphabet = 2 * 153
/** Three parts of a message with any other character, which is sent in UTF-16 and holds less. */
const maxElsewhere = 3 * 67

/** What fits into a few SMS: the headline, the value, the link and our name; what is long gives way, never the link. */
export const smsText = ({ headline, facts, url, origin }: Message): string => {
  const value = facts.find(({ label }) => label === 'Value')?.value
  const threshold = facts.find(({ label }) => label === 'Threshold')?.value
  const figures = [
    ...(value === undefined || headline.endsWith(`(${value})`) ? [] : [`value ${value}`]),
    ...(value === undefined || threshold === undefined ? [] : [`limit ${threshold}`]),
  ]
  const text = plain([headline, ...(figures.length > 0 ? [figures.join(', ')] : [])].join('\n'))
  const end = plain(['', ...(url === null || url.length > maxUrl ? [] : [url]), origin].join('\n'))
  const sizeOf = [...text, ...end].every((character) => basic.has(character) || extended.has(character))
    ? septetsOf
    : unitsOf
  const most = sizeOf === septetsOf ? maxInAlphabet : maxElsewhere
  return cut(text, most - sizeOf(end), sizeOf).replaceAll('…', '...') + end
}

/** A longer link leaves no room for what happened. */
const maxUrl = 80

/** An ellipsis will stand as three dots. */
const dots: SizeOf = (text) => 2 * (text.split('…').length - 1)
const unitsOf: SizeOf = (text) => text.length + dots(text)
const septetsOf: SizeOf = (text) => unitsOf(text) + [...text].filter((character) => extended.has(character)).length

const typographic: readonly (readonly [RegExp, string])[] = [
  [/[‘’‚′]/g, "'"],
  [/[“”„″]/g, '"'],
  [/[‐‑‒–—―]/g, '-'],
  [/…/g, '...'],
  [/[\u00A0\u2007\u202F]/g, ' '],
  [/µ|μ/g, 'u'],
  // Pictures and what shapes them.
  [/\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200D|\u20E3|\uFE0E|\uFE0F/gu, ''],
]

/** Without pictures and typography, for the sake of which a message would take twice the room. */
const plain = (text: string): string =>
  typographic.reduce((written, [pattern, instead]) => written.replaceAll(pattern, instead), text)
