import { z } from 'zod'
import type { TargetFormat } from '#proto/webhook-targets.ts'
import type { Policy } from '../../policy.ts'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'
import { webhookRig } from './webhook.ts'

interface Service {
  form: string
  /** Fixed host name, for services that are recognized by their host name. */
  host?: string
  path: string
  /** Pattern of the request path, if it differs from the configured path. */
  pathOf?: RegExp
  method?: string
  body: z.ZodType
  response: { status: number; body: string }
  dead: ChannelRig['dead']
  textOf(body: unknown): string
  format?: TargetFormat
  headers?: Readonly<Record<string, string>>
  problem?(text: string, headers: Readonly<Record<string, unknown>>): string | undefined
}

/** Returns the policy with a saved target. */
const savedTargetPolicy = (url: string, headers: string, format: TargetFormat): Partial<Policy> => ({
  webhookTargets: [{ name: 'team', saved: { id: 'team', url, headers }, enabled: true, format, minSeverity: null }],
})

/** Returns a rig for this service, configured through variables. */
const createRig = (service: Service): ChannelRig => {
  const {
    form,
    host,
    path,
    method: wanted = 'POST',
    pathOf,
    body,
    response,
    headers: needed = {},
    format = 'auto',
  } = service
  const addressAt = (url: string): string => `${host ? `https://${host}` : url}${path}`
  const target = { name: 'team', urlEnv: 'TEAM_URL', format, headersEnv: 'TEAM_HEADERS' }
  return {
    id: 'webhook-targets',
    form,
    ...(host && { standsFor: [`https://${host}`] }),
    start: () =>
      startStrictServer({
        answer: response,
        problem({ method, path: requested, headers, text }) {
          if (method !== wanted || !(pathOf?.test(requested) ?? requested === path)) return 'not found'
          if (headers['content-type'] !== 'application/json') return 'not JSON'
          if (Object.entries(needed).some(([name, value]) => headers[name.toLowerCase()] !== value)) return 'forbidden'
          return body.safeParse(JSON.parse(text)).error?.message ?? service.problem?.(text, headers)
        },
      }),
    env: (url) => ({
      HEALTH_ALERT_WEBHOOK_TARGETS: JSON.stringify([target]),
      TEAM_URL: addressAt(url),
      TEAM_HEADERS: JSON.stringify(needed),
    }),
    savedPolicy: (url) => savedTargetPolicy(addressAt(url), JSON.stringify(needed), format),
    secrets: () => ['secret-of-the-hook', ...Object.values(needed)],
    switchVariable: 'HEALTH_ALERT_WEBHOOK_TARGETS_ENABLED',
    minSeverityVariable: 'HEALTH_ALERT_WEBHOOK_TARGETS_MIN_SEVERITY',
    minimum: 'warning',
    textOf: ({ text }) => service.textOf(JSON.parse(text)),
    dead: service.dead,
  }
}

const origin = z.string().regex(/^watchhouse-[0-9a-f]{16}$/)

const Raw = z.strictObject({
  version: z.literal(1),
  event: z.enum(['fire', 'escalate', 'remind', 'recover', 'digest', 'test']),
  id: z.string().regex(/^[0-9a-f]{32}$/),
  dedup_key: z.string(),
  sequence: z.int(),
  origin,
  instance: z.string().nullable(),
  host: z.strictObject({ key: z.string(), id: z.int().nullable(), name: z.string() }).nullable(),
  source: z.string().nullable(),
  rule: z.string(),
  severity: z.enum(['warning', 'critical']),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  unit: z.string(),
  started_at: z.iso.datetime(),
  at: z.iso.datetime(),
  reason: z.string(),
  offenders: z.array(z.string()),
  gathered: z.array(z.string()),
  title: z.string(),
  text: z.string().max(8_000),
  url: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
})

export const rawRig = createRig({
  form: 'raw',
  path: '/hook/secret-of-the-hook',
  headers: { 'X-Team': 'value-of-a-secret-header' },
  body: Raw,
  problem: (text, headers) =>
    headers['x-idempotency-key'] === Raw.parse(JSON.parse(text)).id ? undefined : 'another idempotency key',
  response: { status: 202, body: '' },
  dead: { status: 410 },
  textOf: (body) => Raw.parse(body).title,
})

/** Returns whether the HTML has only the elements that the formats use. */
const isPlainHtml = (html: string): boolean => {
  const text = html.replaceAll(/<\/?strong>|<br>|<a href="https?:[^"<>]*">|<\/a>/g, '')
  return !/[<>]|&(?!(amp|lt|gt|quot|#39);)/.test(text)
}

const Room = z.strictObject({
  msgtype: z.literal('m.text'),
  body: z.string().min(1),
  format: z.literal('org.matrix.custom.html'),
  formatted_body: z.string().refine(isPlainHtml, 'contains unexpected HTML'),
  'm.mentions': z.strictObject({}),
  'watchhouse.origin': origin,
})

const room = '/_matrix/client/v3/rooms/!secret-of-the-hook%3Aexample.org'

export const matrixRig = createRig({
  form: 'matrix',
  path: room,
  pathOf: /^\/_matrix\/client\/v3\/rooms\/!secret-of-the-hook%3Aexample\.org\/send\/m\.room\.message\/[0-9a-f]{32}$/,
  method: 'PUT',
  headers: { Authorization: 'Bearer secret-access-token' },
  body: Room,
  problem: (text) => (Buffer.byteLength(text) < 60_000 ? undefined : 'M_TOO_LARGE'),
  response: { status: 200, body: JSON.stringify({ event_id: '$x' }) },
  dead: { status: 403, body: JSON.stringify({ errcode: 'M_FORBIDDEN' }) },
  textOf: (body) => Room.parse(body).body,
})

const Hook = z.strictObject({
  text: z.string().min(1),
  html: z.string().refine(isPlainHtml, 'contains unexpected HTML'),
  username: z.string(),
  origin,
})

export const hookshotRig = createRig({
  form: 'hookshot',
  format: 'hookshot',
  path: '/webhook/secret-of-the-hook',
  body: Hook,
  response: { status: 200, body: JSON.stringify({ ok: true }) },
  dead: { status: 404 },
  textOf: (body) => Hook.parse(body).text,
})

const Embed = z.strictObject({
  title: z.string().min(1).max(256),
  description: z.string().max(4_096),
  color: z.int().min(0).max(0xffffff),
  url: z.url().optional(),
  fields: z
    .array(
      z.strictObject({ name: z.string().min(1).max(256), value: z.string().min(1).max(1_024), inline: z.boolean() }),
    )
    .max(25),
  footer: z.strictObject({ text: origin }),
})
const Post = z.strictObject({
  username: z.string(),
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
  embeds: z.tuple([Embed]),
})

const countCharacters = ({ title, description, fields, footer }: z.infer<typeof Embed>): number =>
  [title, description, footer.text, ...fields.flatMap(({ name, value }) => [name, value])].join('').length

export const discordRig = createRig({
  form: 'discord',
  host: 'discord.com',
  path: '/api/webhooks/4711/secret-of-the-hook',
  body: Post,
  problem: (text) =>
    countCharacters(Post.parse(JSON.parse(text)).embeds[0]) <= 6_000 ? undefined : 'embeds exceed 6000',
  response: { status: 204, body: '' },
  dead: { status: 404, body: JSON.stringify({ message: 'Unknown Webhook', code: 10_015 }) },
  textOf: (body) => Post.parse(body).embeds[0].title.replaceAll(/\\(.)/g, '$1'),
})

const TextRun = z.object({ type: z.literal('TextRun'), text: z.string() })
const Card = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.url(),
        type: z.literal('AdaptiveCard'),
        version: z.literal('1.4'),
        msteams: z.object({ width: z.literal('Full') }),
        body: z.array(z.strictObject({ type: z.literal('RichTextBlock'), inlines: z.array(TextRun).min(1) })).min(1),
        actions: z.array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() })),
      }),
    }),
  ]),
})

export const teamsRig = createRig({
  form: 'teams',
  host: 'prod-01.westeurope.logic.azure.com',
  path: '/workflows/4711/triggers/manual/paths/invoke?sig=secret-of-the-hook',
  body: Card,
  problem: (text) => (Buffer.byteLength(text) <= 28_000 ? undefined : 'too large'),
  response: { status: 202, body: '' },
  dead: { status: 401 },
  textOf: (body) => Card.parse(body).attachments[0].content.body[0]?.inlines[0]?.text ?? '',
})

const html = z.string().refine((text) => isPlainHtml(text.replaceAll(/<\/?i>/g, '')), 'contains unexpected HTML')
const Widget = z.union([
  z.strictObject({ textParagraph: z.strictObject({ text: html }) }),
  z.strictObject({
    decoratedText: z.strictObject({ topLabel: z.string(), text: html, wrapText: z.literal(true) }),
  }),
  z.strictObject({
    buttonList: z.strictObject({
      buttons: z.tuple([
        z.strictObject({
          text: z.string(),
          onClick: z.strictObject({ openLink: z.strictObject({ url: z.url() }) }),
        }),
      ]),
    }),
  }),
])
const ChatCard = z.strictObject({
  fallbackText: z.string().min(1),
  cardsV2: z.tuple([
    z.strictObject({
      cardId: z.string(),
      card: z.strictObject({
        header: z.strictObject({ title: z.string().min(1).max(200) }),
        sections: z.tuple([z.strictObject({ widgets: z.array(Widget).min(1).max(100) })]),
      }),
    }),
  ]),
})

export const googleChatRig = createRig({
  form: 'google-chat',
  host: 'chat.googleapis.com',
  path: '/v1/spaces/AAAA/messages?key=k&token=secret-of-the-hook',
  body: ChatCard,
  problem: (text) => (Buffer.byteLength(text) <= 32_000 ? undefined : 'too large'),
  response: { status: 200, body: JSON.stringify({ name: 'spaces/AAAA/messages/x' }) },
  dead: { status: 404 },
  textOf: (body) => ChatCard.parse(body).fallbackText,
})

/** Rig with the chat service of `webhookRig`. The format is set, because the host name does not imply one. */
export const slackRig: ChannelRig = {
  ...webhookRig,
  id: 'webhook-targets',
  form: 'slack',
  env: (url) => ({
    HEALTH_ALERT_WEBHOOK_TARGETS: JSON.stringify([{ name: 'team', urlEnv: 'TEAM_URL', format: 'slack' }]),
    TEAM_URL: webhookRig.env(url).HEALTH_ALERT_WEBHOOK_URL,
  }),
  savedPolicy: (url) => savedTargetPolicy(webhookRig.env(url).HEALTH_ALERT_WEBHOOK_URL ?? '', '{}', 'slack'),
  switchVariable: 'HEALTH_ALERT_WEBHOOK_TARGETS_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_WEBHOOK_TARGETS_MIN_SEVERITY',
}
