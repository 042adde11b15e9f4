import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'

const countBytes = (text: string): number => Buffer.byteLength(text)

const Body = z.strictObject({
  topic: z.literal('our-alerts'),
  title: z.string().min(1),
  message: z.string().refine((text) => countBytes(text) < 4_096, 'would become an attachment'),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string().regex(/^[\w-]+$/)),
  click: z.url().optional(),
})

/** Rig with an ntfy server under a path prefix. The server accepts JSON messages only at the root of the prefix. */
export const ntfyRig: ChannelRig = {
  id: 'push-a',
  start: () =>
    startStrictServer({
      answer: { status: 200, body: JSON.stringify({ id: 'x', event: 'message' }) },
      problem({ method, path, text }) {
        if (method !== 'POST' || path !== '/push/secret-path/') return 'page not found'
        if (countBytes(text) > 8_192) return 'JSON body too large'
        const body = Body.safeParse(JSON.parse(text))
        return body.success ? undefined : body.error.message
      },
    }),
  env: (url) => ({ HEALTH_ALERT_PUSH_A_URL: `${url}/push/secret-path/our-alerts` }),
  secrets: () => ['secret-path', 'our-alerts'],
  switchVariable: 'HEALTH_ALERT_PUSH_A_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_PUSH_A_MIN_SEVERITY',
  minimum: 'warning',
  textOf: ({ text }) => Body.parse(JSON.parse(text)).title,
  dead: { status: 403, body: JSON.stringify({ code: 40_301, http: 403, error: 'forbidden' }) },
}
