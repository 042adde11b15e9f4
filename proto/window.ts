import { z } from 'zod'
import { Interval } from './catalogue.ts'

/** The window of a chart. `from` and `to` are epoch seconds and override `lastHours`. */
export const Window = z.object({
  interval: Interval.optional(),
  lastHours: z.number().int().min(1).max(8760).optional(),
  from: z.number().int().min(0).optional(),
  to: z.number().int().min(0).optional(),
  timezone: z.string().max(64).optional(),
})
export type Window = z.infer<typeof Window>

/** The time range of a window. */
export const Span = Window.pick({ lastHours: true, from: true, to: true })
export type Span = z.infer<typeof Span>

/** The time range and bucket of a response; the interval is null without buckets. */
export const UsedWindow = z.object({ interval: Interval.nullable(), fromMs: z.number(), toMs: z.number() })
export type UsedWindow = z.infer<typeof UsedWindow>
