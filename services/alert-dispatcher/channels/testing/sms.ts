import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'

const sid = `AC${'0123456789abcdef'.repeat(2)}`
const token = 'secret-auth-token-0001'
const to = '+14155550123'

const Form = z.strictObject({
  To: z.string().regex(/^\+[1-9]\d{6,14}$/),
  From: z.literal('+14155550999'),
  Body: z.string().min(1).max(1_600),
  ValidityPeriod: z.coerce.number().int().min(1).max(36_000),
})

const parseForm = (text: string): unknown => Object.fromEntries(new URLSearchParams(text))

/** Rig with the Messages API of Twilio. */
export const smsRig: ChannelRig = {
  id: 'sms',
  standsFor: ['https://api.twilio.com'],
  ownAddress: true,
  start: () =>
    startStrictServer({
      answer: { status: 201, body: JSON.stringify({ sid: 'SM1', status: 'queued' }) },
      problem({ method, path, headers, text }) {
        if (method !== 'POST' || path !== `/2010-04-01/Accounts/${sid}/Messages.json`) return 'not found'
        if (headers.authorization !== `Basic ${btoa(`${sid}:${token}`)}`) return 'forbidden'
        if (headers['content-type'] !== 'application/x-www-form-urlencoded') return 'not a form'
        return Form.safeParse(parseForm(text)).error?.message
      },
    }),
  env: () => ({
    HEALTH_ALERT_SMS_ACCOUNT_SID: sid,
    HEALTH_ALERT_SMS_AUTH_TOKEN: token,
    HEALTH_ALERT_SMS_FROM: '+14155550999',
    HEALTH_ALERT_SMS_TO: to,
  }),
  secrets: () => [token, to],
  switchVariable: 'HEALTH_ALERT_SMS_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_SMS_MIN_SEVERITY',
  minimum: 'critical',
  readBody: ({ text }) => parseForm(text),
  textOf: ({ text }) => Form.parse(parseForm(text)).Body,
  dead: { status: 401, body: JSON.stringify({ code: 20003, message: 'Authenticate', status: 401 }) },
}
