import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'

const token = 'secret-application-token-0001'
const user = 'secret-user-key-0001'

const common = {
  token: z.literal(token),
  user: z.literal(user),
  title: z.string().min(1).max(250),
  message: z.string().trim().min(1).max(1_024),
  timestamp: z.int().min(0),
  url: z.url().max(512).optional(),
  url_title: z.string().max(100).optional(),
}
const Message = z.union([
  z.strictObject({ ...common, priority: z.int().min(-2).max(1) }),
  z.strictObject({
    ...common,
    priority: z.literal(2),
    retry: z.int().min(30),
    expire: z.int().max(10_800),
    tags: z.string().regex(/^[\w=-]{1,100}$/),
  }),
])
const Cancel = z.strictObject({ token: z.literal(token) })

/** Returns the protocol violation in the body of a request; undefined if there is none. */
const findProblem = (path: string, body: unknown): string | undefined => {
  if (path === '/1/messages.json') return Message.safeParse(body).error?.message
  return /^\/1\/receipts\/cancel_by_tag\/[\w=-]{1,100}\.json$/.test(path)
    ? Cancel.safeParse(body).error?.message
    : 'not found'
}

/** Rig with the API of Pushover. */
export const pushoverRig: ChannelRig = {
  id: 'push-b',
  standsFor: ['https://api.pushover.net'],
  ownAddress: true,
  start: () =>
    startStrictServer({
      answer: { status: 200, body: JSON.stringify({ status: 1, request: 'r' }) },
      problem({ method, path, headers, text }) {
        if (method !== 'POST' || headers['content-type'] !== 'application/json') return 'not JSON'
        return findProblem(path, JSON.parse(text))
      },
    }),
  env: () => ({ HEALTH_ALERT_PUSH_B_TOKEN: token, HEALTH_ALERT_PUSH_B_USER: user }),
  secrets: () => [token, user],
  switchVariable: 'HEALTH_ALERT_PUSH_B_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_PUSH_B_MIN_SEVERITY',
  minimum: 'warning',
  textOf: ({ text }) => Message.parse(JSON.parse(text)).title,
  dead: { status: 400, body: JSON.stringify({ status: 0, user: 'invalid', errors: ['user identifier is invalid'] }) },
}
