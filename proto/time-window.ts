import { z } from 'zod'
import { maxHours } from './time-limits.ts'
import { Interval } from './catalogue.ts'

/**
 * The window of a chart. `from` and `to` are epoch seconds and override `lastMinutes`, which overrides `lastHours`.
 */
export const TimeWindow = z.object({
  interval: Interval.optional(),
  lastHours: z.number().int().min(1).max(maxHours).optional(),
  lastMinutes: z
    .number()
    .int()
    .min(1)
    .max(maxHours * 60)
    .optional(),
  from: z.number().int().min(0).optional(),
  to: z.number().int().min(0).optional(),
  timezone: z.string().max(64).optional(),
})
export type TimeWindow = z.infer<typeof TimeWindow>

/** The time range of a window. */
export const TimeRangeInput = TimeWindow.pick({ lastHours: true, lastMinutes: true, from: true, to: true })
export type TimeRangeInput = z.infer<typeof TimeRangeInput>

/** The time range and bucket of a response; the interval is null without buckets. */
export const UsedWindow = z.object({
  interval: Interval.nullable(),
  fromMs: z.number(),
  toMs: z.number(),
  /** The length of a bucket in seconds, on average for weeks and months; null without buckets. */
  bucketSeconds: z.number().nullable().optional(),
  /** The length of a range that ends now, in minutes; null if the request named a start or an end. */
  lastMinutes: z.number().int().nullable().optional(),
})
export type UsedWindow = z.infer<typeof UsedWindow>
