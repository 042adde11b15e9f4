import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'

/** The parts of the Slack format that chat services accept. */
export const SlackBody = z.strictObject({
  text: z.string().min(1).max(4_000),
  attachments: z
    .array(
      z.strictObject({
        fallback: z.string().min(1),
        color: z.string().regex(/^#[0-9a-f]{6}$/),
        text: z.string().max(8_000),
        footer: z.string().regex(/^watchhouse-[0-9a-f]{16}$/),
        fields: z.array(z.strictObject({ title: z.string().min(1), value: z.string(), short: z.boolean() })).max(20),
      }),
    )
    .length(1),
})

const path = '/services/T000/B000/secret-of-the-hook'

/** Rig with a chat service that accepts the Slack format. */
export const webhookRig: ChannelRig = {
  id: 'webhook',
  start: () =>
    startStrictServer({
      answer: { status: 200, body: 'ok' },
      problem({ method, path: requested, headers, text }) {
        if (method !== 'POST' || requested !== path) return 'no_service'
        if (headers['content-type'] !== 'application/json') return 'invalid_content_type'
        return SlackBody.safeParse(JSON.parse(text)).success ? undefined : 'invalid_payload'
      },
    }),
  env: (url) => ({ HEALTH_ALERT_WEBHOOK_URL: `${url}${path}` }),
  secrets: () => ['secret-of-the-hook'],
  switchVariable: 'HEALTH_ALERT_WEBHOOK_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_WEBHOOK_MIN_SEVERITY',
  minimum: 'warning',
  textOf: ({ text }) => SlackBody.parse(JSON.parse(text)).text,
  dead: { status: 404, body: 'no_service' },
}
