import { z } from 'zod'
import type { DecryptedInstallation } from '../../chat-application/installation.ts'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'
import { SlackBody } from './webhook.ts'

const path = '/services/T01/B01/secret-of-the-chat'

const installation: DecryptedInstallation = {
  id: 'T01-C01',
  workspace: 'Acme',
  chat: '#alerts',
  installedBy: 'ada',
  installedAtMs: 1_790_000_000_000,
  token: 'xoxb-secret-of-the-bot',
  url: `https://hooks.slack.com${path}`,
}

const PlainText = z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(300) })
const Button = z.strictObject({
  type: z.literal('button'),
  action_id: z.string().min(1).max(255),
  text: z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(75) }),
  value: z.string().min(1).max(2_000),
  style: z.enum(['primary', 'danger']).optional(),
  confirm: z.strictObject({ title: PlainText, text: PlainText, confirm: PlainText, deny: PlainText }).optional(),
})
const Buttons = z.strictObject({
  fallback: z.string().min(1),
  blocks: z.tuple([z.strictObject({ type: z.literal('actions'), elements: z.array(Button).min(1).max(25) })]),
})
const Interactive = SlackBody.extend({ attachments: z.tuple([SlackBody.shape.attachments.element], Buttons) })

/** Rig with an incoming webhook of a Slack application, which supports buttons. */
export const chatApplicationRig: ChannelRig = {
  id: 'chat-application',
  standsFor: ['https://hooks.slack.com'],
  ownAddress: true,
  start: () =>
    startStrictServer({
      answer: { status: 200, body: 'ok' },
      problem({ method, path: requested, headers, text }) {
        if (method !== 'POST' || requested !== path) return 'no_service'
        if (headers['content-type'] !== 'application/json') return 'invalid_content_type'
        return Interactive.safeParse(JSON.parse(text)).success ? undefined : 'invalid_blocks'
      },
    }),
  policy: { chatApplications: [installation] },
  // The fake server runs on this machine, where saved addresses are otherwise rejected.
  env: () => ({ CHATAPP_SIGNING_SECRET: 'a secret of the application', SVC_ALLOW_PRIVATE_HOSTS: 'true' }),
  stillOnWithout: ['CHATAPP_SIGNING_SECRET', 'SVC_ALLOW_PRIVATE_HOSTS'],
  secrets: () => ['secret-of-the-chat', 'secret-of-the-bot'],
  switchVariable: 'HEALTH_ALERT_CHATAPP_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_CHATAPP_MIN_SEVERITY',
  minimum: 'warning',
  textOf: ({ text }) => Interactive.parse(JSON.parse(text)).text,
  dead: { status: 404, body: 'no_service' },
}
