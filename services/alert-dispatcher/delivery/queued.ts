import { hash } from 'node:crypto'
import { z } from 'zod'
import { Notice } from '../notice.ts'

/** One notice on its way to one target, as the queue holds it. */
export const Queued = z.object({
  notice: Notice,
  channel: z.string().max(40),
  target: z.string().max(64),
  /** Epoch milliseconds from which its life counts. */
  queuedAtMs: z.number(),
})

export type Queued = z.infer<typeof Queued>

/** Where it waits: channels wait apart, so that a slow one holds no other back. */
export const subjectOf = ({ channel, target }: Pick<Queued, 'channel' | 'target'>): string =>
  `deliver.${channel}.${target}`

/** The same for the same notice and target, so that the queue takes it once. */
export const messageIdOf = ({ notice, channel, target }: Pick<Queued, 'notice' | 'channel' | 'target'>): string =>
  `${notice.id}:${channel}:${target}`

/** A token of a subject for a name that people gave. */
export const tokenOf = (name: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : hash('sha256', name).slice(0, 32)
