import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'
import { Severity } from './rules.ts'

/** What another service has to tell people, as plain text; markup and line breaks in titles and facts are shown as they are. */
export const Announcement = z.object({
  /** What it is about, as routes know it: `weekly-report`. */
  topic: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and dashes'),
  /** Names this telling within its topic: a target that was told under a key is not told again. */
  key: z.string().min(1).max(500),
  title: z.string().min(1).max(300),
  /** Cut by targets that show less. */
  text: z.string().max(16_000),
  /** Shown above the text, in their order. */
  facts: z
    .array(z.object({ label: z.string().min(1).max(60), value: z.string().max(500) }))
    .max(20)
    .default([]),
  /** How it is shown; floors and severities of routes are for alerts alone. */
  severity: Severity.default('warning'),
  /** The host it is about, for routes and for the link; null for several or none. */
  hostKey: HostKey.nullable().default(null),
  /** Page of the product that the link leads to, in place of the page of health. */
  path: z
    .string()
    .max(500)
    .regex(/^\/[^\s\\]*$/, 'must begin with / and have no blanks')
    .optional(),
})
export type Announcement = z.input<typeof Announcement>

/** What came of handing an announcement over for one target. */
export const HandedOver = z.object({
  channel: z.string(),
  target: z.string(),
  /** What routes call it. */
  name: z.string(),
  /**
   * `queued`: it is safe and will be sent; `told`: the target has it from before; `held`: routes or a pause keep it back;
   * `failed`: ask again. A newer release may know more.
   */
  outcome: z.string(),
  /** Why it is held or failed, in words. */
  reason: z.string().nullable(),
})
export type HandedOver = z.infer<typeof HandedOver>

/** How other services, which hold no secret of any channel, tell people something. */
export const notifyMethods = {
  notify: rpc({
    doc: 'Hands something to tell over to webhooks and mail, each of which is told once for each key; says for every target what came of that. An empty answer: none is set up.',
    callers: ['report'],
    input: Announcement,
    output: z.array(HandedOver),
  }),
}
