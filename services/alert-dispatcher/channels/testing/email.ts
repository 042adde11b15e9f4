import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { type ReceivedRequest, startStrictServer } from './strict-server.ts'

const key = 'key-0123456789-secret'
const from = 'Alerts <alerts@watch.example>'
const written = '"Alerts" <alerts@watch.example>'
const to = ['one@team.example', 'two@team.example']

const header = z.string().regex(/^[^\r\n]+$/)
const messageId = z.string().regex(/^<[0-9a-f]{32}(\.\d+)?@watch\.example>$/)

const common = {
  id: 'email',
  ownAddress: true,
  secrets: () => [key],
  switchVariable: 'HEALTH_ALERT_EMAIL_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_EMAIL_MIN_SEVERITY',
  minimum: 'warning',
} as const

const buildEnv = (provider: string) => () => ({
  HEALTH_ALERT_EMAIL_PROVIDER_URL: provider,
  HEALTH_ALERT_EMAIL_FROM: from,
  HEALTH_ALERT_EMAIL_TO: to.join(', '),
})

const Form = z.strictObject({
  from: z.tuple([z.literal(written)]),
  to: z.tuple([z.literal(to[0]), z.literal(to[1])]),
  subject: z.tuple([header.max(998)]),
  text: z.tuple([z.string().min(1)]),
  html: z.tuple([z.string().min(1)]),
  'h:Message-Id': z.tuple([messageId]),
  'h:In-Reply-To': z.tuple([messageId]),
  'h:References': z.tuple([messageId]),
  'h:Auto-Submitted': z.tuple([z.literal('auto-generated')]),
  'h:X-Watchhouse-Installation': z.tuple([header]),
  'o:tag': z.array(z.string().max(128)).max(3),
})

/** Returns the fields of a multipart form by name; undefined if it is malformed. */
const parseForm = ({ headers, text }: ReceivedRequest): Record<string, string[]> | undefined => {
  const boundary = /^multipart\/form-data; ?boundary=(.+)$/.exec(String(headers['content-type']))?.[1]
  if (boundary === undefined) return undefined
  const fields: Record<string, string[]> = {}
  for (const part of text.split(`--${boundary}`).slice(1, -1)) {
    const [head = '', ...body] = part.split('\r\n\r\n')
    const name = /name="([^"]+)"/.exec(head)?.[1] ?? ''
    fields[name] = [...(fields[name] ?? []), body.join('\r\n\r\n').replace(/\r\n$/, '')]
  }
  return fields
}

/** Replaces thread ids, because they depend on the id of the installation, which differs in each test. */
const replaceThreadIds = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/<[0-9a-f]{32}/g, '<thread'))

/** Rig with the API of Mailgun. */
const mailApiARig: ChannelRig = {
  ...common,
  form: 'mail-api-a',
  standsFor: ['https://api.mailgun.net'],
  env: buildEnv(`mail-api-a://${key}@mg.watch.example`),
  start: () =>
    startStrictServer({
      answer: { status: 200, body: JSON.stringify({ id: '<1@mg>', message: 'Queued. Thank you.' }) },
      problem(received) {
        const { method, path, headers } = received
        if (method !== 'POST' || path !== '/v3/mg.watch.example/messages') return 'not found'
        if (headers.authorization !== `Basic ${btoa(`api:${key}`)}`) return 'forbidden'
        return Form.safeParse(parseForm(received)).error?.message
      },
    }),
  readBody: (received) => replaceThreadIds(parseForm(received)),
  textOf: (received) => Form.parse(parseForm(received)).subject[0],
  dead: { status: 401, body: 'Forbidden' },
}

const Body = z.strictObject({
  from: z.literal(written),
  to: z.array(z.string()).min(1).max(50),
  subject: header,
  text: z.string().min(1),
  html: z.string().min(1),
  headers: z.strictObject({
    'In-Reply-To': messageId,
    References: messageId,
    'Auto-Submitted': z.literal('auto-generated'),
    'X-Watchhouse-Installation': header,
  }),
  tags: z.array(z.strictObject({ name: z.string().regex(/^[\w-]+$/), value: z.string().regex(/^[\w-]{1,256}$/) })),
})

const parseBody = (text: string) => Body.safeParse(JSON.parse(text))

/** Rig with the API of Resend, which rejects a different mail with a known idempotency key. */
const mailApiBRig: ChannelRig = {
  ...common,
  form: 'mail-api-b',
  standsFor: ['https://api.resend.com'],
  env: buildEnv(`mail-api-b://${key}`),
  start: () => {
    const known = new Map<string, string>()
    return startStrictServer({
      answer: { status: 200, body: JSON.stringify({ id: 'a1' }) },
      problem({ method, path, headers, text }) {
        if (method !== 'POST' || path !== '/emails') return 'not found'
        if (headers.authorization !== `Bearer ${key}`) return 'API key is invalid'
        if (headers['content-type'] !== 'application/json') return 'not JSON'
        const idempotencyKey = String(headers['idempotency-key'])
        if (!/^[!-~]{1,256}$/.test(idempotencyKey)) return 'invalid_idempotency_key'
        if ((known.get(idempotencyKey) ?? text) !== text) return 'invalid_idempotent_request'
        known.set(idempotencyKey, text)
        return parseBody(text).error?.message
      },
    })
  },
  readBody: ({ text }) => replaceThreadIds(JSON.parse(text)),
  textOf: ({ text }) => parseBody(text).data?.subject ?? '',
  dead: { status: 403, body: JSON.stringify({ name: 'validation_error', message: 'The domain is not verified' }) },
}

/** Rigs of the mail providers that are used over HTTP. */
export const emailRigs: readonly ChannelRig[] = [mailApiARig, mailApiBRig]
