import { z } from 'zod'
import { HostKey } from './host.ts'
import { Severity } from './rules.ts'

/** One line of the history of alerts: what became of an episode, and whether people were told. */
export const HistoryEntry = z.object({
  id: z.string().max(300),
  /** `fire`, `escalate`, `lower`, `remind`, `recover`, or `held` for what people were not told; a newer release may know more. */
  kind: z.string().max(32),
  /** Null when it is about no one host. */
  hostKey: HostKey.nullable(),
  ruleId: z.string().max(160),
  episode: z.string().max(160),
  severity: Severity,
  title: z.string().max(300),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  /** Epoch milliseconds of the first breach, and of what this line tells. */
  sinceMs: z.number().int(),
  atMs: z.number().int(),
  /** Why, in words; of `held` one word such as `maintenance` or `quiet-hours`. */
  reason: z.string().max(300),
})
export type HistoryEntry = z.infer<typeof HistoryEntry>

/** What operators say to an episode: an `ack` ends its reminders, a `dismissal` everything but its recovery. */
export const Silence = z.object({
  kind: z.enum(['ack', 'dismissal']),
  episode: z.string().max(160),
  hostKey: HostKey.nullable(),
  ruleId: z.string().max(160),
  /** Subject of who did it. */
  by: z.string().max(256),
  note: z.string().max(500),
  atMs: z.number().int(),
  /** Null holds until the recovery. */
  untilMs: z.number().int().nullable(),
})
export type Silence = z.infer<typeof Silence>
