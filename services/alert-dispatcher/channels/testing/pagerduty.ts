import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'

const routingKey = 'R0secretroutingkey0000000000000A'

const Event = z.strictObject({
  routing_key: z.literal(routingKey),
  event_action: z.enum(['trigger', 'resolve']),
  dedup_key: z.string().min(1).max(255),
  client: z.string().min(1),
  client_url: z.url().optional(),
  links: z.array(z.strictObject({ href: z.url(), text: z.string() })).optional(),
  payload: z.strictObject({
    summary: z.string().min(1).max(1_024),
    source: z.string().min(1),
    severity: z.enum(['critical', 'error', 'warning', 'info']),
    timestamp: z.iso.datetime(),
    class: z.string().min(1),
    custom_details: z.record(z.string(), z.string()),
  }),
})

/** Rig with the Events API v2 of PagerDuty. */
export const pagerDutyRig: ChannelRig = {
  id: 'paging-a',
  standsFor: ['https://events.pagerduty.com'],
  ownAddress: true,
  start: () =>
    startStrictServer({
      answer: { status: 202, body: JSON.stringify({ status: 'success', message: 'Event processed', dedup_key: 'k' }) },
      problem({ method, path, headers, text }) {
        if (method !== 'POST' || path !== '/v2/enqueue') return 'not found'
        if (headers['content-type'] !== 'application/json') return 'not JSON'
        if (Buffer.byteLength(text) >= 512_000) return 'too large'
        return Event.safeParse(JSON.parse(text)).error?.message
      },
    }),
  env: () => ({ HEALTH_ALERT_PAGING_A_ROUTING_KEY: routingKey }),
  secrets: () => [routingKey],
  switchVariable: 'HEALTH_ALERT_PAGING_A_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_PAGING_A_MIN_SEVERITY',
  minimum: 'warning',
  textOf: ({ text }) => Event.parse(JSON.parse(text)).payload.summary,
  dead: { status: 400, body: JSON.stringify({ status: 'invalid event', errors: ['Invalid routing key'] }) },
}
