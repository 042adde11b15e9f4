import { z } from 'zod'
import { HostKey } from './host.ts'
import { Severity } from './rules.ts'

/** An entry of the alert history: a change of an episode, and whether recipients were notified. */
export const AlertHistoryEntry = z.object({
  id: z.string().max(300),
  /**
   * `fire`, `escalate`, `lower`, `remind`, `recover`, or `held` for notifications that were not sent; a newer release
   * may add values.
   */
  kind: z.string().max(32),
  /** The affected host; null if the change does not concern a single host. */
  hostKey: HostKey.nullable(),
  ruleId: z.string().max(160),
  episode: z.string().max(160),
  severity: Severity,
  title: z.string().max(300),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  /** Epoch milliseconds of the first breach, and of the change. */
  sinceMs: z.number().int(),
  atMs: z.number().int(),
  /** The reason for the change; for `held` one word such as `maintenance` or `quiet-hours`. */
  reason: z.string().max(300),
})
export type AlertHistoryEntry = z.infer<typeof AlertHistoryEntry>

/** A silence of an episode: an `ack` suppresses its reminders, a `dismissal` all notifications except the recovery. */
export const Silence = z.object({
  kind: z.enum(['ack', 'dismissal']),
  episode: z.string().max(160),
  hostKey: HostKey.nullable(),
  ruleId: z.string().max(160),
  /** Subject of the user who created the silence. */
  by: z.string().max(256),
  note: z.string().max(500),
  atMs: z.number().int(),
  /** End of the silence in epoch milliseconds; null if it lasts until the recovery. */
  untilMs: z.number().int().nullable(),
})
export type Silence = z.infer<typeof Silence>
