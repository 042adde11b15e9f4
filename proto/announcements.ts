import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'
import { Severity } from './rules.ts'

/** A message of another service as plain text. Markup is not interpreted. */
export const Announcement = z.object({
  /** The topic for routes, such as `weekly-report`. */
  topic: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and dashes'),
  /** Identifies the message within its topic. A target receives each key once. */
  key: z.string().min(1).max(500),
  title: z.string().min(1).max(300),
  /** The body of the message. Targets with a lower limit truncate it. */
  text: z.string().max(16_000),
  /** Labelled values, shown above the text in this order. */
  facts: z
    .array(z.object({ label: z.string().min(1).max(60), value: z.string().max(500) }))
    .max(20)
    .default([]),
  /** For display only. Minimum severities and severity matchers of routes apply only to alerts. */
  severity: Severity.default('warning'),
  /** The host that routes match and that the link opens; null if the message concerns no host or several. */
  hostKey: HostKey.nullable().default(null),
  /** Path on this site that the message links to; the health page by default. */
  path: z
    .string()
    .max(500)
    .regex(/^\/[^\s\\]*$/, 'must begin with "/" and contain no whitespace or backslash')
    .optional(),
})
export type Announcement = z.input<typeof Announcement>

/** The result of sending an announcement to one target. */
export const AnnouncementResult = z.object({
  channel: z.string(),
  target: z.string(),
  /** The name that routes use. */
  name: z.string(),
  /**
   * `queued`: it is stored and will be sent; `already-sent`: the target has received it; `held`: alerting is disabled
   * or no route matches; `failed`: it was not stored, so retry. A newer release may add values.
   */
  outcome: z.string(),
  /** Why it is held or has failed; null otherwise. */
  reason: z.string().nullable(),
})
export type AnnouncementResult = z.infer<typeof AnnouncementResult>

/** Methods that send notifications for services without access to channel secrets. */
export const notifyMethods = {
  notify: rpc({
    doc: 'Sends a message to webhooks and mail, once per key and target; returns the outcome for every target. An empty response means that none is configured.',
    callers: ['report'],
    input: Announcement,
    output: z.array(AnnouncementResult),
  }),
}
