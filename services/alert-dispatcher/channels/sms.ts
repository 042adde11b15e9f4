import { hash } from 'node:crypto'
import { z } from 'zod'
import { flagSetting, parseSettings, secretSetting } from '#shared/config/setting.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import type { Message } from '../messages/message.ts'
import { type TextSizeFunction, truncateText } from '../messages/text.ts'
import type { Channel, SendResult } from './channel.ts'
import { type ChannelResponse, sendChannelRequest } from './channel-request.ts'
import { createRecipientsSetting, createPatternSetting } from './setting-types.ts'

const phoneNumber = /^\+[1-9]\d{6,14}$/

const numbersSetting = createRecipientsSetting({
  doc: 'Phone numbers that receive alerts by SMS, one message each.',
  are: 'E.164 numbers such as +14155550123',
  maxCount: 20,
  readOne: (text) => (phoneNumber.test(text) ? text : undefined),
})

const settings = {
  HEALTH_ALERT_SMS_ACCOUNT_SID: createPatternSetting(/^AC[0-9a-fA-F]{32}$/, 'must be AC and 32 hexadecimal digits', {
    doc: 'SID of the Twilio account that sends SMS.',
  }),
  HEALTH_ALERT_SMS_AUTH_TOKEN: secretSetting('Token of the Twilio account that sends SMS.'),
  HEALTH_ALERT_SMS_FROM: createPatternSetting(
    /^(\+[1-9]\d{6,14}|\d{4,8}|MG[0-9a-fA-F]{32}|(?=.*[A-Za-z])[A-Za-z0-9 +_&-]{1,11})$/,
    'must be an E.164 number such as +14155550123, a short code, a sender name or the SID of a messaging service',
    { doc: 'Sender of SMS alerts.' },
  ),
  HEALTH_ALERT_SMS_TO: numbersSetting.strict,
  HEALTH_ALERT_SMS_ENABLED: flagSetting(true, 'Whether alerts are sent by SMS.'),
  HEALTH_ALERT_SMS_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for SMS.', 'critical'),
} as const

const readSettings = { ...settings, HEALTH_ALERT_SMS_TO: numbersSetting.valid }

/**
 * SMS through Twilio. Each number is a separate target, so that a rejected one does not block the others. A message
 * sent twice is shown twice; a recovery is a separate message.
 */
export const smsChannel: Channel = {
  id: 'sms',
  words: { name: 'SMS', doc: 'Through Twilio; one message per number.' },
  settings,
  isPaging: true,
  // A long code sends one segment a second; Twilio queues the rest.
  limits: { concurrency: 2, perSecond: 1, burst: 5, groupAfter: 3 },
  targets(env) {
    const values = parseSettings(readSettings, env)
    const { HEALTH_ALERT_SMS_ACCOUNT_SID: sid, HEALTH_ALERT_SMS_FROM: from } = values
    const token = values.HEALTH_ALERT_SMS_AUTH_TOKEN?.trim()
    if (sid === undefined || !token || from === undefined) return []
    return [...new Set(values.HEALTH_ALERT_SMS_TO)].map((to) => ({
      id: hash('sha256', to).slice(0, 32),
      // Phone numbers are private, so the name only shows the last two digits.
      name: `sms to …${to.slice(-2)}`,
      isEnabled: values.HEALTH_ALERT_SMS_ENABLED,
      minSeverity: values.HEALTH_ALERT_SMS_MIN_SEVERITY ?? null,
      send: (message, way) => sendAlert(way, { sid, token, from, to }, message),
    }))
  },
}

interface SmsRequest {
  sid: string
  token: string
  from: string
  to: string
}

const api = 'https://api.twilio.com/2010-04-01'
/** Time after which Twilio discards an undelivered SMS, because it is outdated. */
const validitySeconds = 3_600

const sendAlert = (way: RequestSender, { sid, token, from, to }: SmsRequest, message: Message): Promise<SendResult> =>
  sendChannelRequest(way, {
    url: `${api}/Accounts/${sid}/Messages.json`,
    headers: {
      authorization: `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({
      To: to,
      [from.startsWith('MG') && from.length === 34 ? 'MessagingServiceSid' : 'From']: from,
      Body: renderSms(message),
      ValidityPeriod: String(validitySeconds),
    }).toString(),
    classify,
  })

const Refusal = z.object({ code: z.int() })

/** Error codes for invalid accounts or senders. */
const configCodes: ReadonlySet<number> = new Set([20003, 20005, 20008, 21408, 21603, 21606, 21612, 21659, 21660])
/** Error codes for temporary limits. */
const temporaryCodes: ReadonlySet<number> = new Set([20429, 21611, 30001])

/** Classifies by the error code, which is more specific than the status; undefined for all other codes. */
const classify = ({ status, body, afterMs }: ChannelResponse): SendResult | undefined => {
  const code = Refusal.safeParse(body).data?.code
  if (code === undefined || status < 400) return undefined
  const reason = `HTTP ${status} (${code})`
  if (temporaryCodes.has(code)) return { kind: 'retry', reason, afterMs }
  return configCodes.has(code) ? { kind: 'config', reason } : undefined
}

/** The GSM 7-bit alphabet (3GPP TS 23.038), and its characters that use two septets. */
const gsmAlphabet = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const gsmExtension = new Set('^{}\\[~]|€')

/** Maximum length in the GSM alphabet: two segments, because each segment is charged. */
const maxInAlphabet = 2 * 153
/** Maximum length in UTF-16, which any other character requires: three segments. */
const maxUtf16 = 3 * 67

/**
 * Returns a text for a few SMS segments: headline, value, link and installation id. The headline is cut, never the
 * link.
 */
export const renderSms = ({ headline, facts, url, origin }: Message): string => {
  const value = facts.find(({ label }) => label === 'Value')?.value
  const threshold = facts.find(({ label }) => label === 'Threshold')?.value
  const figures = [
    ...(value === undefined || headline.endsWith(`(${value})`) ? [] : [`value ${value}`]),
    ...(value === undefined || threshold === undefined ? [] : [`limit ${threshold}`]),
  ]
  const text = removeTypography([headline, ...(figures.length > 0 ? [figures.join(', ')] : [])].join('\n'))
  const end = removeTypography(['', ...(url === null || url.length > maxUrl ? [] : [url]), origin].join('\n'))
  const sizeOf = [...text, ...end].every((character) => gsmAlphabet.has(character) || gsmExtension.has(character))
    ? countSeptets
    : countUnits
  const maxCount = sizeOf === countSeptets ? maxInAlphabet : maxUtf16
  return truncateText(text, maxCount - sizeOf(end), sizeOf).replaceAll('…', '...') + end
}

/** A longer link would leave no room for the headline. */
const maxUrl = 80

/** Returns how many characters are added when three dots replace each ellipsis. */
const countEllipsisDots: TextSizeFunction = (text) => 2 * (text.split('…').length - 1)
const countUnits: TextSizeFunction = (text) => text.length + countEllipsisDots(text)
const countSeptets: TextSizeFunction = (text) =>
  countUnits(text) + [...text].filter((character) => gsmExtension.has(character)).length

const typographic: readonly (readonly [RegExp, string])[] = [
  [/[‘’‚′]/g, "'"],
  [/[“”„″]/g, '"'],
  [/[‐‑‒–—―]/g, '-'],
  [/…/g, '...'],
  [/[\u00A0\u2007\u202F]/g, ' '],
  [/µ|μ/g, 'u'],
  // Emoji and their modifiers.
  [/\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200D|\u20E3|\uFE0E|\uFE0F/gu, ''],
]

/** Replaces typographic characters and emoji, which would double the size of the message. */
const removeTypography = (text: string): string =>
  typographic.reduce((written, [pattern, instead]) => written.replaceAll(pattern, instead), text)
