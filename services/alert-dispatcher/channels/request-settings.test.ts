import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { parseJson } from '#shared/text/strings.ts'
import { listFields } from '../policy/saved-channels/channel-fields.ts'
import { channels } from './index.ts'
import { createMessage } from './testing/send-once.ts'

/** The parts of a sent request that depend on settings. */
interface Sent {
  url: string
  authorization: string | undefined
  /** JSON or form fields. */
  body: Readonly<Record<string, unknown>>
}

/** Required settings of each channel. */
const whole: Readonly<Record<string, Environment>> = {
  webhook: { HEALTH_ALERT_WEBHOOK_URL: 'https://chat.example/hook' },
  email: {
    HEALTH_ALERT_EMAIL_PROVIDER_URL: 'mail-api-b://key',
    HEALTH_ALERT_EMAIL_FROM: 'alerts@watch.example',
    HEALTH_ALERT_EMAIL_TO: 'team@watch.example',
  },
  'paging-a': { HEALTH_ALERT_PAGING_A_ROUTING_KEY: 'key' },
  'paging-b': { HEALTH_ALERT_PAGING_B_API_KEY: 'key' },
  'chat-a': { HEALTH_ALERT_CHAT_A_BOT_TOKEN: '1:token', HEALTH_ALERT_CHAT_A_CHAT_ID: '-1' },
  'push-a': { HEALTH_ALERT_PUSH_A_URL: 'https://ntfy.example/topic' },
  'push-b': { HEALTH_ALERT_PUSH_B_TOKEN: 'token', HEALTH_ALERT_PUSH_B_USER: 'user' },
  sms: {
    HEALTH_ALERT_SMS_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    HEALTH_ALERT_SMS_AUTH_TOKEN: 'token',
    HEALTH_ALERT_SMS_FROM: '+14155550100',
    HEALTH_ALERT_SMS_TO: '+14155550200',
  },
}

const sids = ['1', '2'].map((digit) => `AC${digit.repeat(32)}`)
const basic = (login: string): string => `Basic ${btoa(login)}`

/** For each field of each channel, two values, each with the part of the request that contains it. */
const rows: readonly (readonly [string, readonly (readonly [string, Partial<Sent>])[]])[] = [
  ['HEALTH_ALERT_WEBHOOK_URL', ['https://one.example/a', 'https://two.example/b'].map((url) => [url, { url }])],
  [
    'HEALTH_ALERT_EMAIL_PROVIDER_URL',
    ['one', 'two'].map((key) => [`mail-api-b://${key}`, { authorization: `Bearer ${key}` }]),
  ],
  ['HEALTH_ALERT_EMAIL_FROM', ['one@a.example', 'two@b.example'].map((from) => [from, { body: { from } }])],
  [
    'HEALTH_ALERT_EMAIL_TO',
    [['one@a.example'], ['two@b.example', 'three@c.example']].map((to) => [to.join(', '), { body: { to } }]),
  ],
  ['HEALTH_ALERT_PAGING_A_ROUTING_KEY', ['one', 'two'].map((key) => [key, { body: { routing_key: key } }])],
  ['HEALTH_ALERT_PAGING_B_API_KEY', ['one', 'two'].map((key) => [key, { authorization: `GenieKey ${key}` }])],
  [
    'HEALTH_ALERT_PAGING_B_REGION',
    [
      ['us', { url: 'https://api.opsgenie.com/v2/alerts' }],
      ['eu', { url: 'https://api.eu.opsgenie.com/v2/alerts' }],
    ],
  ],
  [
    'HEALTH_ALERT_CHAT_A_BOT_TOKEN',
    ['11:one', '22:two'].map((token) => [token, { url: `https://api.telegram.org/bot${token}/sendMessage` }]),
  ],
  ['HEALTH_ALERT_CHAT_A_CHAT_ID', ['-1001', '@two'].map((chat) => [chat, { body: { chat_id: chat } }])],
  [
    'HEALTH_ALERT_PUSH_A_URL',
    [
      ['https://one.example/push/first', { url: 'https://one.example/push/', body: { topic: 'first' } }],
      ['https://two.example/second', { url: 'https://two.example/', body: { topic: 'second' } }],
    ],
  ],
  ['HEALTH_ALERT_PUSH_A_TOKEN', ['one', 'two'].map((token) => [token, { authorization: `Bearer ${token}` }])],
  ['HEALTH_ALERT_PUSH_B_TOKEN', ['one', 'two'].map((token) => [token, { body: { token } }])],
  ['HEALTH_ALERT_PUSH_B_USER', ['one', 'two'].map((user) => [user, { body: { user } }])],
  [
    'HEALTH_ALERT_PUSH_B_EMERGENCY',
    [
      ['true', { body: { priority: 2 } }],
      ['false', { body: { priority: 1 } }],
    ],
  ],
  [
    'HEALTH_ALERT_SMS_ACCOUNT_SID',
    sids.map((sid) => [sid, { url: `https://api.twilio.com/2010-04-01/Accounts/${sid}/Messages.json` }]),
  ],
  [
    'HEALTH_ALERT_SMS_AUTH_TOKEN',
    ['one', 'two'].map((token) => [token, { authorization: basic(`AC${'0'.repeat(32)}:${token}`) }]),
  ],
  ['HEALTH_ALERT_SMS_FROM', ['+14155550101', '+14155550102'].map((From) => [From, { body: { From } }])],
  ['HEALTH_ALERT_SMS_TO', ['+14155550201', '+14155550202'].map((To) => [To, { body: { To } }])],
]

it('covers every field that affects a request', () => {
  const fields = channels.flatMap((channel) => listFields(channel).map(({ variable }) => variable))
  // The key for listing services has its own tests.
  const sent = fields.filter((variable) => variable !== 'HEALTH_ALERT_PAGING_A_API_KEY')
  expect(rows.map(([variable]) => variable).toSorted()).toEqual(sent.toSorted())
})

it.each(rows)('sends %s as configured', async (variable, cases) => {
  const channel = channels.find(({ settings }) => variable in settings)
  if (!channel) throw new Error(`no channel has the variable ${variable}`)
  for (const [text, expected] of cases) {
    const sent: Sent[] = []
    const way: RequestSender = async (url, outgoing = {}) => {
      sent.push(readSent(url, outgoing))
      return new Response('{}')
    }
    const env = { ...whole[channel.id], [variable]: text }
    const targets = channel.targets(env, { webhookTargets: [], subscriptions: [], chatApplications: [] })
    expect(targets).toHaveLength(1)
    await targets[0]?.send(createMessage({ severity: 'critical' }), way, () =>
      Promise.reject(new Error('no mail server')),
    )
    expect(sent).toMatchObject([expected])
  }
})

const readSent = (url: string | URL, { headers, body }: Parameters<RequestSender>[1] & object): Sent => {
  const text = z.string().parse(body)
  const authorization = new Headers(headers).get('authorization') ?? undefined
  const json = z.record(z.string(), z.unknown()).safeParse(parseJson(text)).data
  return { url: String(url), authorization, body: json ?? Object.fromEntries(new URLSearchParams(text)) }
}
